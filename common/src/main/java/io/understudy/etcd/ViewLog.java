package io.understudy.etcd;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/** Logs each change from one view to the next in one line. */
final class ViewLog {

    private static final Logger LOG = LoggerFactory.getLogger(ViewLog.class);

    private final String cluster;

    ViewLog(String cluster) {
        this.cluster = cluster;
    }

    /** @param why failure of an endpoint's last probe, null if none */
    void changed(ClusterView before, ClusterView after, Function<Endpoint, @Nullable String> why) {
        if (!Objects.equals(before.clusterId(), after.clusterId())) {
            LOG.atInfo()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("id", after.clusterId())
                    .log("cluster identified");
        }
        for (ClusterView.Foreign foreign : after.foreign()) {
            if (!before.foreign().contains(foreign)) {
                LOG.atError()
                        .addKeyValue("cluster", cluster)
                        .addKeyValue("endpoint", foreign.endpoint())
                        .addKeyValue("id", foreign.clusterId())
                        .addKeyValue("expected", after.clusterId())
                        .log("endpoint excluded: unexpected cluster ID");
            }
        }
        for (Member member : after.members()) {
            compare(before.member(member.id()), member, why);
        }
        for (Member member : before.members()) {
            if (after.member(member.id()).isEmpty()) {
                LOG.atInfo()
                        .addKeyValue("cluster", cluster)
                        .addKeyValue("member", member.name())
                        .addKeyValue("id", member.id())
                        .log("member removed");
            }
        }
        if (!Objects.equals(before.leaderId(), after.leaderId())) {
            LOG.atInfo()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("from", before.leaderId())
                    .addKeyValue("to", after.leaderId())
                    .addKeyValue(
                            "term",
                            after.members().stream()
                                    .mapToLong(Member::raftTerm)
                                    .max()
                                    .orElse(0))
                    .log("leader changed");
        }
    }

    private void compare(Optional<Member> before, Member after, Function<Endpoint, @Nullable String> why) {
        List<String> warnings = after.version().warnings();
        if (!warnings.isEmpty() && !before.map(Member::version).equals(Optional.of(after.version()))) {
            LOG.atWarn()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("member", after.name())
                    .addKeyValue("version", after.version())
                    .addKeyValue("faults", String.join("; ", warnings))
                    .log("member runs a version with known faults");
        }
        if (before.isEmpty()) {
            LoggingEventBuilder event = LOG.atInfo()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("member", after.name())
                    .addKeyValue("id", after.id())
                    .addKeyValue("role", after.role())
                    .addKeyValue("health", after.health())
                    .addKeyValue("endpoints", after.endpoints());
            withCause(event, after, why).log("member found");
            return;
        }
        if (before.get().role() != after.role()) {
            LOG.atInfo()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("member", after.name())
                    .addKeyValue("id", after.id())
                    .addKeyValue("from", before.get().role())
                    .addKeyValue("to", after.role())
                    .log("member role changed");
        }
        if (before.get().health() != after.health()) {
            LoggingEventBuilder event = LOG.atLevel(after.health() == Health.HEALTHY ? Level.INFO : Level.WARN)
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("member", after.name())
                    .addKeyValue("id", after.id())
                    .addKeyValue("from", before.get().health())
                    .addKeyValue("to", after.health());
            withCause(event, after, why).log("member health changed");
        }
    }

    /**
     * Adds why the member can't be reached, such as a rejected login. The first of its addresses with a cause counts.
     */
    private static LoggingEventBuilder withCause(
            LoggingEventBuilder event, Member member, Function<Endpoint, @Nullable String> why) {
        if (member.health() != Health.UNREACHABLE) {
            return event;
        }
        return member.endpoints().stream()
                .map(why)
                .filter(Objects::nonNull)
                .findFirst()
                .map(reason -> event.addKeyValue("cause", reason))
                .orElse(event);
    }
}
