package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is of use on a member's page of metrics.
 *
 * @param text empty if there is none
 */
record MetricsPage(String text) {

    static final MetricsPage NONE = new MetricsPage("");

    /** One line per pair of ids, which are hexadecimal ({@code rafthttp/metrics.go}). */
    private static final Pattern PEER =
            Pattern.compile("\\{Local=\"([0-9a-f]{1,16})\",Remote=\"([0-9a-f]{1,16})\"} ([0-9.e+-]+)");

    private static final Pattern STARTED = Pattern.compile(" ([0-9.e+]+)");
    private static final double MILLIS = 1000;

    /** The members that {@code local} has a connection with. */
    Set<MemberId> peers(MemberId local) {
        return lines("etcd_network_active_peers", PEER)
                .filter(line -> id(line.group(1)).equals(local) && Double.parseDouble(line.group(3)) > 0)
                .map(line -> id(line.group(2)))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** When the process started, by its own clock. */
    Optional<Instant> startedAt() {
        return lines("process_start_time_seconds", STARTED)
                .map(line -> Instant.ofEpochMilli(Math.round(Double.parseDouble(line.group(1)) * MILLIS)))
                .findFirst();
    }

    /** A page has over a thousand lines of which a few are asked for: most of it is passed over without a pattern. */
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
