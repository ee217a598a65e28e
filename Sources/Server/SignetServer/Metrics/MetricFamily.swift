// SPDX-License-Identifier: Apache-2.0

/// Every metric that a server prints. `Scripts/check-deployment` holds alert rules and dashboards to these names.
enum MetricFamily: String, CaseIterable, Sendable {
    case requests = "signet_requests_total"
    case requestTime = "signet_request_seconds"
    case refusals = "signet_refusals_total"
    case registrations = "signet_registrations_total"
    case connections = "signet_connections_total"
    case openConnections = "signet_connections_open"
    case logEntries = "signet_log_entries"
    case publishedEntries = "signet_log_published_entries"
    case checkpointAge = "signet_log_checkpoint_age_seconds"
    case logAlive = "signet_log_alive"
    case ready = "signet_ready"
    case notReady = "signet_not_ready"
    case certificateEnd = "signet_certificate_end_timestamp_seconds"
    case witnessedEntries = "signet_witness_cosigned_entries"
    case witnessedTime = "signet_witness_cosigned_timestamp_seconds"
    case databaseBytes = "signet_database_bytes"
    case databaseLogBytes = "signet_database_wal_bytes"
    case diskFree = "signet_disk_free_bytes"
    case diskReserve = "signet_disk_reserve_bytes"
    case build = "signet_build_info"
    case processorTime = "process_cpu_seconds_total"
    case startTime = "process_start_time_seconds"
    case residentBytes = "process_resident_memory_bytes"
    case openFiles = "process_open_fds"
    case maximumFiles = "process_max_fds"

    /// The line of the output that says what it is.
    var help: String {
        switch self {
        case .requests: "Requests answered, by route and status."
        case .requestTime: "Time from a request's head to its answer, by route."
        case .refusals: "Connections and requests that ran into a limit, by limit."
        case .registrations: "Accounts registered since the start."
        case .connections: "Connections accepted."
        case .openConnections: "Connections open now."
        case .logEntries: "Entries of the log."
        case .publishedEntries: "Entries of the log under the newest published checkpoint."
        case .checkpointAge: "Seconds since the newest published checkpoint was signed."
        case .logAlive: "1 while the log can be written, 0 after it failed."
        case .ready: "1 if /ready answers 200, otherwise 0."
        case .notReady: "1 for each reason for which /ready answers 503, otherwise 0."
        case .certificateEnd: "When the certificate that new connections get ends, in seconds since 1970."
        case .witnessedEntries: "Entries under the last checkpoint that a witness cosigned since the start."
        case .witnessedTime:
            "When a witness cosigned last since the start, in seconds since 1970 by its clock; 0 for never."
        case .databaseBytes: "Bytes of a database's file, without its write-ahead log."
        case .databaseLogBytes: "Bytes of a database's write-ahead log."
        case .diskFree: "Bytes free for the server on the file system of the data directory."
        case .diskReserve: "Bytes of that file system that only the directory may use."
        case .build: "1, with the version of the program."
        case .processorTime: "Seconds of processor time that the process used, user and system."
        case .startTime: "When the process started, in seconds since 1970."
        case .residentBytes: "Bytes of memory that the process holds."
        case .openFiles: "Files that the process has open."
        case .maximumFiles: "Files that the process may have open."
        }
    }

    /// The type of those that are measured when they are asked for.
    var isCounter: Bool { self == .processorTime }
}

/// One value, measured when it was asked for.
struct MetricSample: Hashable, Sendable {
    let family: MetricFamily
    /// As ``PrometheusText/labels(_:)`` prints them; empty for none.
    let labels: String
    let value: Double

    init(_ family: MetricFamily, _ value: Double, _ labels: (String, String)...) {
        self.family = family
        self.labels = PrometheusText.labels(labels)
        self.value = value
    }

    init(_ family: MetricFamily, _ value: UInt64, _ labels: (String, String)...) {
        self.family = family
        self.labels = PrometheusText.labels(labels)
        self.value = Double(value)
    }
}

/// Measures when it is asked. Labels come from closed sets.
protocol MetricSource: Sendable {
    func samples() -> [MetricSample]
}
