-- Totals. Times in microseconds where a column does not say otherwise.

CREATE VIEW top_kernels AS
SELECT S.display_name AS name, COUNT(K.kernel_id) AS total_calls,
    SUM(K.end - K.start) / 1000.0 AS total_duration,
    (SUM(K.end - K.start) / COUNT(K.kernel_id)) / 1000.0 AS average,
    SUM(K.end - K.start) * 100.0 /
        (SELECT SUM(A.end - A.start) FROM rocpd_kernel_dispatch A) AS percentage
FROM rocpd_kernel_dispatch K
INNER JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid
GROUP BY name
ORDER BY total_duration DESC;

CREATE VIEW busy AS
SELECT A.agent_id, AG.type, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy
FROM (
    SELECT agent_id, guid, SUM(end - start) AS GpuTime
    FROM (
        SELECT agent_id, guid, end, start FROM rocpd_kernel_dispatch
        UNION ALL
        SELECT dst_agent_id AS agent_id, guid, end, start FROM rocpd_memory_copy
    )
    GROUP BY agent_id, guid
) A
INNER JOIN (
    SELECT MAX(end) - MIN(start) AS WallTime
    FROM (
        SELECT end, start FROM rocpd_kernel_dispatch
        UNION ALL
        SELECT end, start FROM rocpd_memory_copy
    )
) W ON 1 = 1
INNER JOIN rocpd_info_agent AG ON AG.id = A.agent_id AND AG.guid = A.guid;

-- Sampled frames are no calls: the time of a sample is in each of its frames.
CREATE VIEW top AS
SELECT name, COUNT(*) AS total_calls, SUM(duration) / 1000.0 AS total_duration,
    (SUM(duration) / COUNT(*)) / 1000.0 AS average,
    SUM(duration) * 100.0 / total_time AS percentage
FROM (
    SELECT name, duration FROM kernels
    UNION ALL
    SELECT name, duration FROM memory_copies
    UNION ALL
    SELECT name, duration FROM regions
    WHERE category NOT IN ('timer_sampling', 'overflow_sampling')
)
INNER JOIN (
    SELECT SUM(duration) AS total_time
    FROM (
        SELECT duration FROM kernels
        UNION ALL
        SELECT duration FROM memory_copies
        UNION ALL
        SELECT duration FROM regions
        WHERE category NOT IN ('timer_sampling', 'overflow_sampling')
    )
) ON 1 = 1
GROUP BY name
ORDER BY total_duration DESC;
