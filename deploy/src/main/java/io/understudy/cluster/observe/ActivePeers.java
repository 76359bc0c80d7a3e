package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads the peers that a member has a connection with off its page of metrics: {@code etcd_network_active_peers}
 * ({@code rafthttp/metrics.go}), one line per pair of ids, which are hexadecimal.
 */
final class ActivePeers {

    private static final Pattern LINE = Pattern.compile(
            "^etcd_network_active_peers\\{Local=\"([0-9a-f]{1,16})\",Remote=\"([0-9a-f]{1,16})\"} ([0-9.e+-]+)$",
            Pattern.MULTILINE);

    private ActivePeers() {}

    /** Those of the member itself; what else is on the page is left out. */
    static Set<MemberId> of(MemberId local, String page) {
        return LINE.matcher(page)
                .results()
                .filter(line -> id(line.group(1)).equals(local) && Double.parseDouble(line.group(3)) > 0)
                .map(line -> id(line.group(2)))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static MemberId id(String text) {
        return new MemberId(Long.parseUnsignedLong(text, 16));
    }
}
