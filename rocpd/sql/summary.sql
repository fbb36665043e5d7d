-- Calls and times by name: what `rocpd summary` prints, and the views of Python's rocpd.summary.
-- Both are made from this file. A section begins with `-- @` and its name:
--
--   @rows VIEW [CATEGORY]  the events of one kind; a category is chosen with --region-categories
--   @by_name, @by_rank     statements over such rows, which replace {{rows}}
--
-- A sample counts for the function that was executed, its innermost frame.
--
-- rpd_stddev() is the sample deviation.

-- @rows kernels
SELECT guid, pid, duration, name AS "Name" FROM kernels
-- @rows memory_copies
SELECT guid, pid, duration, name AS "Name" FROM memory_copies
-- @rows memory_allocations
SELECT guid, pid, duration, type AS "Name" FROM memory_allocations
-- @rows scratch_memory
SELECT guid, pid, duration, operation AS "Name" FROM scratch_memory
-- @rows hip HIP
SELECT guid, pid, duration, name AS "Name" FROM regions WHERE category LIKE 'HIP%'
-- @rows hsa HSA
SELECT guid, pid, duration, name AS "Name" FROM regions WHERE category LIKE 'HSA%'
-- @rows rccl RCCL
SELECT guid, pid, duration, name AS "Name" FROM regions WHERE category LIKE 'RCCL%'
-- @rows rocdecode ROCDECODE
SELECT guid, pid, duration, name AS "Name" FROM regions WHERE category LIKE 'ROCDECODE%'
-- @rows rocjpeg ROCJPEG
SELECT guid, pid, duration, name AS "Name" FROM regions WHERE category LIKE 'ROCJPEG%'
-- @rows markers MARKER
SELECT guid, pid, duration, COALESCE(json_extract(extdata, '$.message'), name) AS "Name"
FROM regions_and_samples WHERE category LIKE 'MARKER%'

-- @rows host HOST
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'host'
-- @rows user USER
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'user'
-- @rows python PYTHON
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'python'
-- @rows pthread PTHREAD
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'pthread'
-- @rows mpi MPI
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'mpi'
-- @rows ompt OMPT
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'ompt'
-- @rows kokkos KOKKOS
SELECT guid, pid, duration, name AS "Name" FROM host_regions WHERE category = 'kokkos'
-- @rows samples SAMPLES
SELECT guid, pid, duration, name AS "Name" FROM call_stack_samples
WHERE (guid, event_id) IN (SELECT guid, MAX(event_id) FROM call_stack_samples GROUP BY guid, track, start, "end")

-- @by_name
SELECT "Name",
	COUNT(*) AS "Calls",
	SUM(duration) AS "DURATION (nsec)",
	AVG(duration) AS "AVERAGE (nsec)",
	SUM(duration) * 100.0 / SUM(SUM(duration)) OVER () AS "PERCENT (INC)",
	MIN(duration) AS "MIN (nsec)",
	MAX(duration) AS "MAX (nsec)",
	rpd_stddev(duration) AS "STD_DEV"
FROM ({{rows}})
GROUP BY "Name"
ORDER BY 3 DESC, 1

-- @by_rank
SELECT v.pid AS "ProcessID",
	p.hostname AS "Hostname",
	v."Name",
	COUNT(*) AS "Calls",
	SUM(v.duration) AS "DURATION (nsec)",
	AVG(v.duration) AS "AVERAGE (nsec)",
	SUM(v.duration) * 100.0 / SUM(SUM(v.duration)) OVER (PARTITION BY v.guid, v.pid)
		AS "PERCENT (INC)",
	MIN(v.duration) AS "MIN (nsec)",
	MAX(v.duration) AS "MAX (nsec)",
	rpd_stddev(v.duration) AS "STD_DEV"
FROM ({{rows}}) v
JOIN processes p ON p.guid = v.guid AND p.pid = v.pid
GROUP BY v.guid, v.pid, v."Name"
ORDER BY 1, 5 DESC, 3
