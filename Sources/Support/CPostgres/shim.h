#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#error "libpq-fe.h is missing: run `make setup` (it installs libpq-dev), then build again"
#endif

// The codes of these fields are macros of character constants, which Swift does not see.

/// The SQLSTATE of an error or a notice; null if it has none.
static inline const char *signet_pq_state(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/// ERROR, FATAL, PANIC, WARNING and so on, in English; null if there is none.
static inline const char *signet_pq_severity(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
}

/// The first line of a message; null if there is none.
static inline const char *signet_pq_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
