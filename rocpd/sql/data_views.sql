-- What happened, joined for reading. Every join also asks for the same guid, so that
-- several databases can be read as one.

CREATE VIEW code_objects AS
SELECT CO.id, CO.guid, CO.nid, CO.pid, A.absolute_index AS agent_abs_index, CO.uri,
    CO.load_base, CO.load_size, CO.load_delta, CO.storage_type AS storage_type_str,
    JSON_EXTRACT(CO.extdata, '$.size') AS code_object_size,
    JSON_EXTRACT(CO.extdata, '$.storage_type') AS storage_type,
    JSON_EXTRACT(CO.extdata, '$.memory_base') AS memory_base,
    JSON_EXTRACT(CO.extdata, '$.memory_size') AS memory_size
FROM rocpd_info_code_object CO
LEFT JOIN rocpd_info_agent A ON A.id = CO.agent_id AND A.guid = CO.guid;

CREATE VIEW kernel_symbols AS
SELECT KS.id, KS.guid, KS.nid, KS.pid, KS.code_object_id, KS.kernel_name, KS.display_name,
    KS.kernel_object, KS.kernarg_segment_size, KS.kernarg_segment_alignment,
    KS.group_segment_size, KS.private_segment_size, KS.sgpr_count, KS.arch_vgpr_count,
    KS.accum_vgpr_count,
    JSON_EXTRACT(KS.extdata, '$.size') AS kernel_symbol_size,
    JSON_EXTRACT(KS.extdata, '$.kernel_id') AS kernel_id,
    JSON_EXTRACT(KS.extdata, '$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset,
    JSON_EXTRACT(KS.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,
    JSON_EXTRACT(KS.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,
    JSON_EXTRACT(KS.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,
    JSON_EXTRACT(KS.extdata, '$.kernel_address.handle') AS kernel_address
FROM rocpd_info_kernel_symbol KS;

CREATE VIEW processes AS
SELECT N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release,
    N.version AS system_version, P.guid, P.ppid, P.pid, P.init, P.start, P.end, P.fini, P.command
FROM rocpd_info_process P
INNER JOIN rocpd_info_node N ON N.id = P.nid AND N.guid = P.guid;

CREATE VIEW threads AS
SELECT N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release,
    N.version AS system_version, P.guid, P.ppid, P.pid, T.tid, T.start, T.end, T.name
FROM rocpd_info_thread T
INNER JOIN rocpd_info_process P ON P.id = T.pid AND P.guid = T.guid
INNER JOIN rocpd_info_node N ON N.id = T.nid AND N.guid = T.guid;

CREATE VIEW regions AS
SELECT R.id, R.guid,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    S.string AS name, R.nid, P.pid, T.tid, R.start, R.end, (R.end - R.start) AS duration,
    R.event_id, E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id, E.extdata,
    E.call_stack, E.line_info
FROM rocpd_region R
INNER JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid
INNER JOIN rocpd_string S ON S.id = R.name_id AND S.guid = R.guid
INNER JOIN rocpd_info_process P ON P.id = R.pid AND P.guid = R.guid
INNER JOIN rocpd_info_thread T ON T.id = R.tid AND T.guid = R.guid;

CREATE VIEW region_args AS
SELECT R.id, R.guid, R.nid, P.pid, A.type, A.name, A.value
FROM rocpd_region R
INNER JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid
INNER JOIN rocpd_arg A ON A.event_id = E.id AND A.guid = R.guid
INNER JOIN rocpd_info_process P ON P.id = R.pid AND P.guid = R.guid;

CREATE VIEW samples AS
SELECT R.id, R.guid,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    (SELECT string FROM rocpd_string S WHERE S.id = T.name_id AND S.guid = T.guid) AS name,
    T.nid, P.pid, TH.tid, R.timestamp, R.event_id, E.stack_id, E.parent_stack_id,
    E.correlation_id AS corr_id, E.extdata, E.call_stack, E.line_info
FROM rocpd_sample R
INNER JOIN rocpd_track T ON T.id = R.track_id AND T.guid = R.guid
INNER JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid
INNER JOIN rocpd_info_process P ON P.id = T.pid AND P.guid = T.guid
INNER JOIN rocpd_info_thread TH ON TH.id = T.tid AND TH.guid = T.guid;

CREATE VIEW sample_regions AS
SELECT id, guid, category, name, nid, pid, tid, timestamp AS start, timestamp AS end,
    0 AS duration, event_id, stack_id, parent_stack_id, corr_id, extdata, call_stack, line_info
FROM samples;

CREATE VIEW regions_and_samples AS
SELECT * FROM regions
UNION ALL
SELECT * FROM sample_regions;

-- The CPU side, as rocprof-sys records it. rocpd/import_host.c tells the kinds apart in the same way.

CREATE VIEW host_regions AS
SELECT * FROM regions
WHERE category NOT GLOB '*_API*'
    AND (category NOT GLOB 'rocm_*_api' OR category = 'rocm_marker_api')
    AND category NOT IN ('timer_sampling', 'overflow_sampling');

-- One row per frame, outermost first. The region around all samples has no call stack.
CREATE VIEW call_stack_samples AS
SELECT R.id, R.guid, R.category, R.name, R.nid, R.pid, R.tid, K.string AS track, R.start, R.end,
    R.duration, R.event_id, JSON_EXTRACT(R.call_stack, '$.pc') AS pc,
    COALESCE(JSON_EXTRACT(R.call_stack, '$.file'), '') AS module,
    COALESCE(JSON_EXTRACT(R.line_info, '$.inlined.location'),
        JSON_EXTRACT(R.call_stack, '$.location'), '') AS file,
    CAST(COALESCE(JSON_EXTRACT(R.line_info, '$.inlined.line'),
        JSON_EXTRACT(R.call_stack, '$.line'), 0) AS INTEGER) AS line
FROM regions R
INNER JOIN rocpd_sample M ON M.event_id = R.event_id AND M.guid = R.guid
INNER JOIN rocpd_track T ON T.id = M.track_id AND T.guid = M.guid
INNER JOIN rocpd_string K ON K.id = T.name_id AND K.guid = T.guid
WHERE R.category IN ('timer_sampling', 'overflow_sampling') AND R.call_stack != '{}'
    AND JSON_VALID(R.call_stack) AND JSON_VALID(R.line_info);

CREATE VIEW metrics AS
SELECT V.id, V.guid, C.string AS category, P.name, P.nid, I.pid, P.target_arch,
    A.type_index AS agent_type_index, X.timestamp, V.value, P.units,
    P.long_description AS quality
FROM rocpd_pmc_event V
INNER JOIN (
    SELECT guid, event_id, MIN(timestamp) AS timestamp FROM rocpd_sample GROUP BY guid, event_id
) X ON X.event_id = V.event_id AND X.guid = V.guid
INNER JOIN rocpd_info_pmc P ON P.id = V.pmc_id AND P.guid = V.guid
INNER JOIN rocpd_event E ON E.id = V.event_id AND E.guid = V.guid
INNER JOIN rocpd_string C ON C.id = E.category_id AND C.guid = E.guid
INNER JOIN rocpd_info_process I ON I.id = P.pid AND I.guid = P.guid
LEFT JOIN rocpd_info_agent A ON A.id = P.agent_id AND A.guid = P.guid;

CREATE VIEW kernels AS
SELECT K.id, K.guid, T.tid,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    R.string AS region, S.display_name AS name, K.nid, P.pid,
    A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index,
    A.type_index AS agent_type_index, A.type AS agent_type, S.code_object_id, K.kernel_id,
    K.dispatch_id, K.stream_id, K.queue_id, Q.name AS queue, ST.name AS stream, K.start, K.end,
    (K.end - K.start) AS duration, K.grid_size_x AS grid_x, K.grid_size_y AS grid_y,
    K.grid_size_z AS grid_z, K.workgroup_size_x AS workgroup_x,
    K.workgroup_size_y AS workgroup_y, K.workgroup_size_z AS workgroup_z,
    K.group_segment_size AS lds_size, K.private_segment_size AS scratch_size,
    S.arch_vgpr_count AS vgpr_count, S.accum_vgpr_count, S.sgpr_count,
    S.group_segment_size AS static_lds_size, S.private_segment_size AS static_scratch_size,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id
FROM rocpd_kernel_dispatch K
INNER JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid
INNER JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid
INNER JOIN rocpd_string R ON R.id = K.region_name_id AND R.guid = K.guid
INNER JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid
LEFT JOIN rocpd_info_stream ST ON ST.id = K.stream_id AND ST.guid = K.guid
INNER JOIN rocpd_info_queue Q ON Q.id = K.queue_id AND Q.guid = K.guid
INNER JOIN rocpd_info_process P ON P.id = Q.pid AND P.guid = Q.guid
INNER JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid;

CREATE VIEW pmc_info AS
SELECT PMC.id, PMC.guid, PMC.nid, P.pid, A.absolute_index AS agent_abs_index, PMC.is_constant,
    PMC.is_derived, PMC.name, PMC.description, PMC.block, PMC.expression
FROM rocpd_info_pmc PMC
INNER JOIN rocpd_info_agent A ON A.id = PMC.agent_id AND A.guid = PMC.guid
INNER JOIN rocpd_info_process P ON P.id = PMC.pid AND P.guid = PMC.guid;

CREATE VIEW pmc_events AS
SELECT PMCE.id, PMCE.guid, PMCE.pmc_id, E.id AS event_id,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    (SELECT display_name FROM rocpd_info_kernel_symbol KS
        WHERE KS.id = K.kernel_id AND KS.guid = K.guid) AS name,
    K.nid, P.pid, K.dispatch_id, K.start, K.end, (K.end - K.start) AS duration,
    PMC.name AS counter_name, PMCE.value AS counter_value
FROM rocpd_pmc_event PMCE
INNER JOIN rocpd_info_pmc PMC ON PMC.id = PMCE.pmc_id AND PMC.guid = PMCE.guid
INNER JOIN rocpd_event E ON E.id = PMCE.event_id AND E.guid = PMCE.guid
INNER JOIN rocpd_kernel_dispatch K ON K.event_id = PMCE.event_id AND K.guid = PMCE.guid
INNER JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid;

CREATE VIEW events_args AS
SELECT E.id AS event_id,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    E.stack_id, E.parent_stack_id, E.correlation_id, A.position AS arg_position,
    A.type AS arg_type, A.name AS arg_name, A.value AS arg_value, E.call_stack, E.line_info,
    A.extdata
FROM rocpd_event E
INNER JOIN rocpd_arg A ON A.event_id = E.id AND A.guid = E.guid;

CREATE VIEW stream_args AS
SELECT A.id AS argument_id, A.event_id, A.position AS arg_position, A.type AS arg_type,
    A.value AS arg_value, JSON_EXTRACT(A.extdata, '$.stream_id') AS stream_id, S.nid, P.pid,
    S.name AS stream_name, S.extdata
FROM rocpd_arg A
INNER JOIN rocpd_info_stream S
    ON S.id = JSON_EXTRACT(A.extdata, '$.stream_id') AND S.guid = A.guid
INNER JOIN rocpd_info_process P ON P.id = S.pid AND P.guid = S.guid
WHERE A.name = 'stream';

CREATE VIEW memory_copies AS
SELECT M.id, M.guid,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    M.nid, P.pid, T.tid, M.start, M.end, (M.end - M.start) AS duration, S.string AS name,
    R.string AS region_name, M.stream_id, M.queue_id, ST.name AS stream_name,
    Q.name AS queue_name, M.size, DST.name AS dst_device,
    DST.absolute_index AS dst_agent_abs_index, DST.logical_index AS dst_agent_log_index,
    DST.type_index AS dst_agent_type_index, DST.type AS dst_agent_type, M.dst_address,
    SRC.name AS src_device, SRC.absolute_index AS src_agent_abs_index,
    SRC.logical_index AS src_agent_log_index, SRC.type_index AS src_agent_type_index,
    SRC.type AS src_agent_type, M.src_address, E.stack_id, E.parent_stack_id,
    E.correlation_id AS corr_id
FROM rocpd_memory_copy M
INNER JOIN rocpd_string S ON S.id = M.name_id AND S.guid = M.guid
LEFT JOIN rocpd_string R ON R.id = M.region_name_id AND R.guid = M.guid
INNER JOIN rocpd_info_agent DST ON DST.id = M.dst_agent_id AND DST.guid = M.guid
INNER JOIN rocpd_info_agent SRC ON SRC.id = M.src_agent_id AND SRC.guid = M.guid
LEFT JOIN rocpd_info_queue Q ON Q.id = M.queue_id AND Q.guid = M.guid
LEFT JOIN rocpd_info_stream ST ON ST.id = M.stream_id AND ST.guid = M.guid
INNER JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid
INNER JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid
INNER JOIN rocpd_info_thread T ON T.id = M.tid AND T.guid = M.guid;

CREATE VIEW memory_allocations AS
SELECT M.id, M.guid,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    M.nid, P.pid, T.tid, M.start, M.end, (M.end - M.start) AS duration, M.type, M.level,
    A.name AS agent_name, A.absolute_index AS agent_abs_index,
    A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type,
    M.address, M.size, M.queue_id, Q.name AS queue_name, M.stream_id, ST.name AS stream_name,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id
FROM rocpd_memory_allocate M
LEFT JOIN rocpd_info_agent A ON A.id = M.agent_id AND A.guid = M.guid
LEFT JOIN rocpd_info_queue Q ON Q.id = M.queue_id AND Q.guid = M.guid
LEFT JOIN rocpd_info_stream ST ON ST.id = M.stream_id AND ST.guid = M.guid
INNER JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid
INNER JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid
INNER JOIN rocpd_info_thread T ON T.id = M.tid AND T.guid = M.guid;

CREATE VIEW scratch_memory AS
SELECT M.id, M.guid, M.nid, P.pid, M.type AS operation, A.name AS agent_name,
    A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index,
    A.type_index AS agent_type_index, A.type AS agent_type, M.queue_id, T.tid,
    JSON_EXTRACT(M.extdata, '$.flags') AS alloc_flags, M.start, M.end,
    (M.end - M.start) AS duration, M.size, M.address, E.correlation_id, E.stack_id,
    E.parent_stack_id, E.correlation_id AS corr_id,
    (SELECT string FROM rocpd_string S WHERE S.id = E.category_id AND S.guid = E.guid) AS category,
    E.extdata AS event_extdata
FROM rocpd_memory_allocate M
LEFT JOIN rocpd_info_agent A ON A.id = M.agent_id AND A.guid = M.guid
INNER JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid
INNER JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid
INNER JOIN rocpd_info_thread T ON T.id = M.tid AND T.guid = M.guid
WHERE M.level = 'SCRATCH'
ORDER BY M.start;

CREATE VIEW counters_collection AS
SELECT MIN(PMCE.id) AS id, PMCE.guid, K.dispatch_id, K.kernel_id, E.id AS event_id,
    E.correlation_id, E.stack_id, E.parent_stack_id, P.pid, T.tid, K.agent_id,
    A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index,
    A.type_index AS agent_type_index, A.type AS agent_type, K.queue_id, K.grid_size_x,
    K.grid_size_y, K.grid_size_z, (K.grid_size_x * K.grid_size_y * K.grid_size_z) AS grid_size,
    S.display_name AS kernel_name, R.string AS kernel_region, K.workgroup_size_x,
    K.workgroup_size_y, K.workgroup_size_z,
    (K.workgroup_size_x * K.workgroup_size_y * K.workgroup_size_z) AS workgroup_size,
    K.group_segment_size AS lds_block_size, K.private_segment_size AS scratch_size,
    S.arch_vgpr_count AS vgpr_count, S.accum_vgpr_count, S.sgpr_count, PMC.name AS counter_name,
    PMC.symbol AS counter_symbol, PMC.component, PMC.description, PMC.block, PMC.expression,
    PMC.value_type, PMC.id AS counter_id, SUM(PMCE.value) AS value, K.start, K.end,
    PMC.is_constant, PMC.is_derived, (K.end - K.start) AS duration,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    K.nid, E.extdata, S.code_object_id
FROM rocpd_pmc_event PMCE
INNER JOIN rocpd_info_pmc PMC ON PMC.id = PMCE.pmc_id AND PMC.guid = PMCE.guid
INNER JOIN rocpd_event E ON E.id = PMCE.event_id AND E.guid = PMCE.guid
INNER JOIN rocpd_kernel_dispatch K ON K.event_id = PMCE.event_id AND K.guid = PMCE.guid
INNER JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid
INNER JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid
LEFT JOIN rocpd_string R ON R.id = K.region_name_id AND R.guid = K.guid
INNER JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid
INNER JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid
GROUP BY PMCE.guid, K.dispatch_id, PMC.name, K.agent_id;
