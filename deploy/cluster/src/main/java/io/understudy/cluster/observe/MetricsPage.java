package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The used values of a member's metrics page.
 *
 * @param text empty if there is none
 */
record MetricsPage(String text) {

    static final MetricsPage NONE = new MetricsPage("");

    /** One line per sender, with a hexadecimal ID ({@code rafthttp/metrics.go}). */
    private static final Pattern FROM = Pattern.compile("\\{From=\"([0-9a-f]{1,16})\"} ([0-9.e+-]+)");

    private static final Pattern PEER = Pattern.compile("\\{Local=\"[0-9a-f]+\",Remote=\"([0-9a-f]{1,16})\"} 1");

    private static final Pattern VALUE = Pattern.compile(" ([0-9.e+-]+)");
    private static final double MILLIS = 1000;

    /** Cumulative WAL fsyncs of a process. */
    record Fsyncs(double count, double seconds) {}

    boolean isEmpty() {
        return text.isEmpty();
    }

    /** Returns the received bytes of Raft messages, by sender. */
    Map<MemberId, Double> received() {
        return lines("etcd_network_peer_received_bytes_total", FROM)
                .collect(Collectors.toUnmodifiableMap(
                        line -> id(line.group(1)), line -> Double.parseDouble(line.group(2)), Double::sum));
    }

    /** Whether it is a page with that role, a leader, and exactly those peers. */
    boolean isOf(MemberId member, boolean leads, Set<MemberId> peers) {
        return value("etcd_server_has_leader").equals(Optional.of(1.0))
                && value("etcd_server_is_leader").equals(Optional.of(leads ? 1.0 : 0.0))
                && lines("etcd_network_known_peers", PEER)
                        .map(line -> id(line.group(1)))
                        .filter(peer -> !peer.equals(member))
                        .collect(Collectors.toUnmodifiableSet())
                        .equals(peers);
    }

    /** Returns the response with the indexes of this page. */
    MemberAnswer update(MemberAnswer answer) {
        return answer.withIndexes(
                index("etcd_server_proposals_committed_total", answer.raftIndex()),
                index("etcd_server_proposals_applied_total", answer.appliedIndex()),
                new Revision(index(
                        "etcd_debugging_mvcc_current_revision",
                        answer.revision().value())));
    }

    private long index(String metric, long otherwise) {
        return value(metric).map(Double::longValue).orElse(otherwise);
    }

    /** Returns the limit of the database file; 0, the default, is 2 GiB. */
    Optional<Long> quotaBytes() {
        return value("etcd_server_quota_backend_bytes").map(Double::longValue).filter(bytes -> bytes > 0);
    }

    Optional<Fsyncs> fsyncs() {
        return value("etcd_disk_wal_fsync_duration_seconds_count")
                .flatMap(count ->
                        value("etcd_disk_wal_fsync_duration_seconds_sum").map(seconds -> new Fsyncs(count, seconds)));
    }

    /** Returns the value of a metric without labels. */
    private Optional<Double> value(String metric) {
        return lines(metric, VALUE)
                .map(line -> Double.parseDouble(line.group(1)))
                .findFirst();
    }

    /** Returns the process start time, by its own clock. */
    Optional<Instant> startedAt() {
        return value("process_start_time_seconds").map(seconds -> Instant.ofEpochMilli(Math.round(seconds * MILLIS)));
    }

    /** Matches only lines of the metric, since a page has over a thousand lines. */
    private Stream<MatchResult> lines(String metric, Pattern rest) {
        List<MatchResult> found = new ArrayList<>();
        for (int at = text.indexOf(metric); at >= 0; at = text.indexOf(metric, at + 1)) {
            if (at == 0 || text.charAt(at - 1) == '\n') {
                int end = text.indexOf('\n', at);
                Matcher line = rest.matcher(text).region(at + metric.length(), end < 0 ? text.length() : end);
                if (line.matches()) {
                    found.add(line.toMatchResult());
                }
            }
        }
        return found.stream();
    }

    private static MemberId id(String text) {
        return new MemberId(Long.parseUnsignedLong(text, 16));
    }
}
