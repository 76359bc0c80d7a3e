package io.understudy.mirror;

import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.vocabulary.KeyRange;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a mirror process runs.
 *
 * @param status where status and metrics are served; port 0 for any free one
 * @param mirrors at least one, each with a name of its own
 */
public record MirrorSettings(InetSocketAddress status, List<Mirror> mirrors) {

    public MirrorSettings {
        mirrors = List.copyOf(mirrors);
        Set<String> names = new HashSet<>();
        for (Mirror mirror : mirrors) {
            if (!names.add(mirror.name())) {
                throw new IllegalArgumentException("two mirrors are named " + mirror.name());
            }
        }
        if (mirrors.isEmpty()) {
            throw new IllegalArgumentException("no mirrors; at least one is needed");
        }
    }

    /**
     * One mirror.
     *
     * @param name tells its checkpoint from others in the same target
     * @param range the part of the source that is copied
     */
    public record Mirror(String name, EtcdSettings source, EtcdFeedOptions feed, KeyRange range, Target target) {}

    /** What a mirror writes to. */
    public sealed interface Target {

        /** Another etcd cluster. */
        record Etcd(EtcdSettings cluster, EtcdSinkOptions options) implements Target {}

        /** A Kafka topic. */
        record Kafka(KafkaSinkOptions options) implements Target {}
    }
}
