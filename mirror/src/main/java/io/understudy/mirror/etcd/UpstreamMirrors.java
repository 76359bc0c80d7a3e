package io.understudy.mirror.etcd;

import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import java.util.Set;

/**
 * Mirrors that bring a mirror's keys to its source, and are started together with it. The first time they go first: the
 * records that they store at its source show that the keys' primary is elsewhere.
 */
public final class UpstreamMirrors {

    private UpstreamMirrors() {}

    /**
     * Reads from the target, or else from the source, whether the mirror has begun before. Waits for the answers.
     *
     * @param names of those mirrors
     * @throws SinkException.NotYet one of them has yet to begin
     */
    public static void requireBegun(
            String mirror, EtcdCluster source, EtcdCluster target, Set<String> names, SinkListener listener) {
        if (names.isEmpty()) {
            return;
        }
        try (TargetCalls targets = new TargetCalls(target, listener);
                TargetCalls sources = TargetCalls.ofSource(source, listener)) {
            if (new HomeKeys(targets, "target", mirror).read().own() != null) {
                // The source may be away, and leases have to be kept alive.
                return;
            }
            HomeKeys.Known there =
                    new HomeKeys(sources, "source", mirror).read().readable();
            for (String name : names) {
                if (there.others().stream().noneMatch(home -> brings(name, home, there))) {
                    throw new SinkException.NotYet("upstream mirror " + name + " to start for the first time");
                }
            }
        }
    }

    /** Whether that mirror has begun here. After a move, it copies from here, the primary. */
    private static boolean brings(String name, Home home, HomeKeys.Known there) {
        return home.mirror().equals(name)
                && (home.target().equals(there.cluster()) || home.cluster().equals(there.cluster()));
    }
}
