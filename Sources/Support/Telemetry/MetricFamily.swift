// SPDX-License-Identifier: Apache-2.0

/// Every metric that the server, a witness or an auditor prints. `Scripts/check-deployment` compares the names in alert rules and
/// dashboards with these.
package enum MetricFamily: String, CaseIterable, Sendable {
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
    case republishing = "signet_republish_seconds"
    case sharedGeneration = "signet_shared_log_generation"
    case sharedLeads = "signet_shared_log_leads"
    case sharedTakeovers = "signet_shared_log_takeovers_total"
    case sharedLease = "signet_shared_log_lease_seconds"
    case sharedCommits = "signet_shared_log_commits_total"
    case sharedCommitTime = "signet_shared_log_commit_seconds_total"
    case sharedPending = "signet_shared_log_pending_rows"
    case sharedPendingAge = "signet_shared_log_pending_age_seconds"
    case sharedUnpublished = "signet_shared_log_unpublished_entries"
    case sharedBehind = "signet_shared_log_behind_entries"
    case sharedClock = "signet_shared_log_clock_seconds"
    case sharedObjects = "signet_shared_log_objects_total"
    case sharedRepeats = "signet_shared_log_repeats_total"
    case ready = "signet_ready"
    case notReady = "signet_not_ready"
    case certificateEnd = "signet_certificate_end_timestamp_seconds"
    case witnessedEntries = "signet_witness_cosigned_entries"
    case witnessedTime = "signet_witness_cosigned_timestamp_seconds"
    case cosignedEntries = "signet_cosigned_log_entries"
    case cosignedTime = "signet_cosigned_log_timestamp_seconds"
    case auditedEntries = "signet_audited_log_entries"
    case auditedAge = "signet_audited_log_age_seconds"
    case auditedTime = "signet_audited_log_timestamp_seconds"
    case auditedFaults = "signet_audited_log_faults"
    case auditRounds = "signet_audit_rounds_total"
    case auditTime = "signet_audit_seconds_total"
    case databaseBytes = "signet_database_bytes"
    case databaseLogBytes = "signet_database_wal_bytes"
    case backupTime = "signet_backup_timestamp_seconds"
    case diskFree = "signet_disk_free_bytes"
    case diskReserve = "signet_disk_reserve_bytes"
    case build = "signet_build_info"
    case processorTime = "process_cpu_seconds_total"
    case startTime = "process_start_time_seconds"
    case residentBytes = "process_resident_memory_bytes"
    case openFiles = "process_open_fds"
    case maximumFiles = "process_max_fds"

    /// The help text of the family in the output.
    package var help: String {
        switch self {
        case .requests: "Answered requests, by route and status."
        case .requestTime: "Seconds from a request's head to its answer, by route."
        case .refusals: "Connections and requests refused at a limit, by limit."
        case .registrations: "Accounts registered since the server started."
        case .connections: "Accepted connections."
        case .openConnections: "Open connections."
        case .logEntries: "Entries in the log."
        case .publishedEntries: "Log entries that the newest published checkpoint covers."
        case .checkpointAge: "Seconds since the newest published checkpoint was signed."
        case .logAlive: "1 while the log can be written, 0 after a write failed."
        case .republishing: "How often this process signs the checkpoint again, or expects that, in seconds."
        case .sharedGeneration: "How often the leadership of the log was claimed, by the database."
        case .sharedLeads: "1 while this process leads the log, otherwise 0."
        case .sharedTakeovers: "How often this process began to lead."
        case .sharedLease: "For how many seconds the lease of whoever leads still runs; 0 if nobody has one."
        case .sharedCommits: "Transactions with which this process wrote the log or what is published, by outcome."
        case .sharedCommitTime: "Seconds that these transactions took."
        case .sharedPending: "Accepted changes that wait for the process that leads."
        case .sharedPendingAge: "Seconds since this process first saw the oldest of them; 0 if none waits."
        case .sharedUnpublished: "Entries in the database that the published checkpoint does not cover."
        case .sharedBehind: "Published entries that this front end does not show yet."
        case .sharedClock:
            "At least so many seconds is the clock of this process ahead of the database's; negative: behind it."
        case .sharedObjects:
            "Objects of the log that this process put into the store, by outcome; different: other bytes were there."
        case .sharedRepeats: "Transactions that were run again because another one disturbed them."
        case .ready: "1 if /ready answers 200, otherwise 0."
        case .notReady: "1 if /ready answers 503 for this reason, otherwise 0."
        case .certificateEnd: "When the certificate for new connections expires, in seconds since 1970."
        case .witnessedEntries: "Entries under the last checkpoint that the witness cosigned since the server started."
        case .witnessedTime:
            "When the witness last cosigned, in seconds since 1970 by its clock; 0 if not since the server started."
        case .cosignedEntries:
            "Entries under the last checkpoint of the log that this witness cosigned since it started."
        case .cosignedTime:
            "When this witness last cosigned for the log since it started, in seconds since 1970 by its clock."
        case .auditedEntries: "Entries under the largest checkpoint of the log that this auditor found sound."
        case .auditedAge: "Seconds since the last epoch of that checkpoint ended, by the auditor's clock."
        case .auditedTime:
            "When this auditor last found what the log publishes sound since it started, in seconds since 1970; 0 if not yet."
        case .auditedFaults: "Proofs that this auditor keeps of the log having broken a rule."
        case .auditRounds: "Looks at what the log publishes since the auditor started, by result."
        case .auditTime: "Seconds that these looks took."
        case .databaseBytes: "Size of the database file in bytes, without the write-ahead log."
        case .databaseLogBytes: "Size of the database's write-ahead log in bytes."
        case .backupTime:
            "When the newest complete backup with signetd backup began, in seconds since 1970; 0 if none is known."
        case .diskFree: "Bytes that the server can still write to the file system of the data directory."
        case .diskReserve: "Bytes of that file system that are reserved for the directory."
        case .build: "Always 1; the label has the version of the program."
        case .processorTime: "Processor time of the process in seconds, user and system."
        case .startTime: "When the process started, in seconds since 1970."
        case .residentBytes: "Resident memory of the process in bytes."
        case .openFiles: "Open file descriptors of the process."
        case .maximumFiles: "The most file descriptors that the process may have open."
        }
    }

    /// The type of a family that is measured when it is requested.
    package var isCounter: Bool {
        switch self {
        case .processorTime, .auditRounds, .auditTime: true
        case .sharedTakeovers, .sharedCommits, .sharedCommitTime, .sharedObjects, .sharedRepeats: true
        default: false
        }
    }
}

/// One value, measured when it was requested.
package struct MetricSample: Hashable, Sendable {
    /// Of what it is a value.
    package let family: MetricFamily
    /// The labels, as ``PrometheusText/labels(_:)`` prints them; empty if there are none.
    package let labels: String
    /// The value, in the unit that the name of the family says.
    package let value: Double

    /// A value with labels, each a name and a text.
    package init(_ family: MetricFamily, _ value: Double, _ labels: (String, String)...) {
        self.family = family
        self.labels = PrometheusText.labels(labels)
        self.value = value
    }

    /// The same of a whole number.
    package init(_ family: MetricFamily, _ value: UInt64, _ labels: (String, String)...) {
        self.family = family
        self.labels = PrometheusText.labels(labels)
        self.value = Double(value)
    }
}

/// A source that measures its values when they are requested. Its labels come from closed sets, so that a client cannot
/// add any.
package protocol MetricSource: Sendable {
    /// What is measured now.
    func samples() -> [MetricSample]
}
