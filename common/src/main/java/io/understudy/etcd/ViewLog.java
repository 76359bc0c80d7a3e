package io.understudy.etcd;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Tells what changed from one view to the next: one line per change, none while nothing does. */
final class ViewLog {

    private static final Logger log = LoggerFactory.getLogger(ViewLog.class);

    private final String cluster;

    ViewLog(String cluster) {
        this.cluster = cluster;
    }

    /** @param why what the last look at an endpoint failed with, null if with nothing */
    void changed(ClusterView before, ClusterView after, Function<Endpoint, @Nullable String> why) {
        if (!Objects.equals(before.clusterId(), after.clusterId())) {
            log.info("cluster identified cluster={} id={}", cluster, after.clusterId());
        }
        for (ClusterView.Foreign foreign : after.foreign()) {
            if (!before.foreign().contains(foreign)) {
                log.error(
                        "another cluster answers, endpoint excluded cluster={} endpoint={} id={} expected={}",
                        cluster,
                        foreign.endpoint(),
                        foreign.clusterId(),
                        after.clusterId());
            }
        }
        for (Member member : after.members()) {
            compare(before.member(member.id()), member, why);
        }
        for (Member member : before.members()) {
            if (after.member(member.id()).isEmpty()) {
                log.info("member gone cluster={} member={} id={}", cluster, member.name(), member.id());
            }
        }
        if (!Objects.equals(before.leaderId(), after.leaderId())) {
            log.info(
                    "leader changed cluster={} from={} to={} term={}",
                    cluster,
                    before.leaderId(),
                    after.leaderId(),
                    after.members().stream().mapToLong(Member::raftTerm).max().orElse(0));
        }
    }

    private void compare(Optional<Member> before, Member after, Function<Endpoint, @Nullable String> why) {
        if (before.isEmpty()) {
            log.info(
                    "member found cluster={} member={} id={} role={} health={} endpoints={}{}",
                    cluster,
                    after.name(),
                    after.id(),
                    after.role(),
                    after.health(),
                    after.endpoints(),
                    cause(after, why));
            return;
        }
        if (before.get().role() != after.role()) {
            log.info(
                    "member's role changed cluster={} member={} id={} from={} to={}",
                    cluster,
                    after.name(),
                    after.id(),
                    before.get().role(),
                    after.role());
        }
        if (before.get().health() != after.health()) {
            log.atLevel(after.health() == Health.HEALTHY ? Level.INFO : Level.WARN)
                    .log(
                            "member's health changed cluster={} member={} id={} from={} to={}{}",
                            cluster,
                            after.name(),
                            after.id(),
                            before.get().health(),
                            after.health(),
                            cause(after, why));
        }
    }

    /** Why it can't be reached, a login that is refused for one; by its first address that tells. */
    private static String cause(Member member, Function<Endpoint, @Nullable String> why) {
        if (member.health() != Health.UNREACHABLE) {
            return "";
        }
        return member.endpoints().stream()
                .map(why)
                .filter(Objects::nonNull)
                .findFirst()
                .map(reason -> " why=\"" + reason + "\"")
                .orElse("");
    }
}
