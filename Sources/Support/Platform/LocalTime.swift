// SPDX-License-Identifier: Apache-2.0

/// How far local time is ahead of UTC at a time, both in seconds, by the process's time zone: `TZ`, else the system's. 0 if the system does
/// not know.
package func secondsAheadOfUTC(at time: UInt64) -> Int {
    var (time, local) = (time_t(clamping: time), tm())
    tzset()
    return localtime_r(&time, &local) == nil ? 0 : Int(local.tm_gmtoff)
}
