package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What is of use on a member's page of metrics.
 *
 * @param text empty if there is none
 */
record MetricsPage(String text) {

    static final MetricsPage NONE = new MetricsPage("");

    /** One line per pair of ids, which are hexadecimal ({@code rafthttp/metrics.go}). */
    private static final Pattern PEER = Pattern.compile(
            "^etcd_network_active_peers\\{Local=\"([0-9a-f]{1,16})\",Remote=\"([0-9a-f]{1,16})\"} ([0-9.e+-]+)$",
            Pattern.MULTILINE);

    private static final Pattern STARTED =
            Pattern.compile("^process_start_time_seconds ([0-9.e+]+)$", Pattern.MULTILINE);
    private static final double MILLIS = 1000;

    /** The members that {@code local} has a connection with. */
    Set<MemberId> peers(MemberId local) {
        return PEER.matcher(text)
                .results()
                .filter(line -> id(line.group(1)).equals(local) && Double.parseDouble(line.group(3)) > 0)
                .map(line -> id(line.group(2)))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** When the process started, by its own clock. */
    Optional<Instant> startedAt() {
        return STARTED.matcher(text)
                .results()
                .map(line -> Instant.ofEpochMilli(Math.round(Double.parseDouble(line.group(1)) * MILLIS)))
                .findFirst();
    }

    private static MemberId id(String text) {
        return new MemberId(Long.parseUnsignedLong(text, 16));
    }
}
