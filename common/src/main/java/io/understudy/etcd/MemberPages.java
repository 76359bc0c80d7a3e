package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What is of use on a server's pages.
 *
 * @param versionPage of {@code /version}
 * @param metricsPage of {@code /metrics}
 */
record MemberPages(String versionPage, String metricsPage) {

    private static final Pattern VERSION = Pattern.compile("\"etcdserver\"\\s*:\\s*\"([^\"]+)\"");

    /** Where a gateway says what it is; it tells etcd's clients three numbers only. */
    private static final Pattern UNDERSTUDY = Pattern.compile("\"understudy\"\\s*:\\s*\"([^\"]+)\"");

    /** Gauges of {@code etcdserver/metrics.go} that are 0 or 1. */
    private static final Pattern ROLE =
            Pattern.compile("^etcd_server_(is_leader|has_leader|is_learner) 1(?:\\.0|e\\+00)?$", Pattern.MULTILINE);

    /** A gauge of {@code etcdserver/metrics.go}, whose label is the member's id. */
    private static final Pattern MEMBER =
            Pattern.compile("^etcd_server_id\\{server_id=\"([0-9a-f]{1,16})\"} 1(?:\\.0|e\\+00)?$", Pattern.MULTILINE);

    /** Whether they may be of that member: they say so, or don't say whose they are. */
    boolean mayBeOf(MemberId member) {
        Matcher found = MEMBER.matcher(metricsPage);
        return !found.find() || new MemberId(Long.parseUnsignedLong(found.group(1), 16)).equals(member);
    }

    EtcdVersion version() {
        return Stream.of(UNDERSTUDY, VERSION)
                .map(pattern -> pattern.matcher(versionPage))
                .filter(Matcher::find)
                .findFirst()
                .map(found -> EtcdVersion.parse(found.group(1)))
                .orElse(EtcdVersion.UNKNOWN);
    }

    boolean isLeader() {
        return tells("is_leader");
    }

    boolean hasLeader() {
        return tells("has_leader");
    }

    boolean isLearner() {
        return tells("is_learner");
    }

    private boolean tells(String role) {
        return ROLE.matcher(metricsPage).results().anyMatch(line -> line.group(1)
                .equals(role));
    }
}
