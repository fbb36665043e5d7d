/*
 * sql: the text of a database's schema, from the files in sql/.
 *
 * Placeholders: {{uuid}} is the suffix of table names with its `_`, {{guid}} the guid.
 */
#ifndef WS_ROCPD_SQL_H
#define WS_ROCPD_SQL_H

/* "tables", "views", "data_views" or "summary_views"; NULL: no such text. */
const char *rpd_sql(const char *name);

#endif
