package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The required fields of a server's pages.
 *
 * @param versionPage of {@code /version}
 * @param metricsPage of {@code /metrics}
 */
record MemberPages(String versionPage, String metricsPage) {

    private static final Pattern VERSION = Pattern.compile("\"etcdserver\"\\s*:\\s*\"([^\"]+)\"");

    /** The name of a gateway's own version. */
    private static final String GATEWAY = "\"understudy\"";

    /** Gauges of {@code etcdserver/metrics.go} that are 0 or 1. */
    private static final Pattern ROLE =
            Pattern.compile("^etcd_server_(is_leader|has_leader|is_learner) 1(?:\\.0|e\\+00)?$", Pattern.MULTILINE);

    /** A gauge of {@code etcdserver/metrics.go}, labelled with the member's id. */
    private static final Pattern MEMBER =
            Pattern.compile("^etcd_server_id\\{server_id=\"([0-9a-f]{1,16})\"} 1(?:\\.0|e\\+00)?$", Pattern.MULTILINE);

    /** Whether the pages may be of that member: they name it, or no member. */
    boolean mayBeOf(MemberId member) {
        Matcher found = MEMBER.matcher(metricsPage);
        return !found.find() || new MemberId(Long.parseUnsignedLong(found.group(1), 16)).equals(member);
    }

    EtcdVersion version() {
        Matcher found = VERSION.matcher(versionPage);
        EtcdVersion version = found.find() ? EtcdVersion.parse(found.group(1)) : EtcdVersion.UNKNOWN;
        return versionPage.contains(GATEWAY) ? version.ofGateway() : version;
    }

    boolean isLeader() {
        return hasRole("is_leader");
    }

    boolean hasLeader() {
        return hasRole("has_leader");
    }

    boolean isLearner() {
        return hasRole("is_learner");
    }

    private boolean hasRole(String role) {
        return ROLE.matcher(metricsPage).results().anyMatch(line -> line.group(1)
                .equals(role));
    }
}
