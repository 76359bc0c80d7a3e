package io.understudy.etcd;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server's version, and what follows from it: the one place that knows how etcd's releases differ.
 *
 * @param suffix what follows the three numbers, such as {@code -rc.0} or {@code +understudy}; not compared
 */
public record EtcdVersion(int major, int minor, int patch, String suffix) implements Comparable<EtcdVersion> {

    /** Of a server that did not say; older than everything, so that nothing is assumed. */
    public static final EtcdVersion UNKNOWN = new EtcdVersion(0, 0, 0, "");

    private static final Pattern FORM = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6})(.*)");
    private static final Comparator<EtcdVersion> ORDER = Comparator.comparingInt(EtcdVersion::major)
            .thenComparingInt(EtcdVersion::minor)
            .thenComparingInt(EtcdVersion::patch);

    /** Reads the version a server reports; {@link #UNKNOWN} for anything that doesn't begin with three numbers. */
    public static EtcdVersion parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            return text.contains("understudy") ? new EtcdVersion(0, 0, 0, text) : UNKNOWN;
        }
        return new EtcdVersion(
                Integer.parseInt(matcher.group(1)),
                Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(3)),
                matcher.group(4));
    }

    /** Whether an understudy gateway answered, not etcd. */
    public boolean isUnderstudy() {
        return suffix.contains("understudy");
    }

    /**
     * Whether a watch tells every event, and a progress mark only after them. Before 3.5.8 a mark could overtake events
     * (etcd #15220); before 3.5.13 a watcher whose client reads slowly could lose some to a compaction, silently
     * ({@code mvcc/watcher_group.go}, etcd #17555).
     */
    public boolean watchIsReliable() {
        return isUnderstudy() || atLeast(3, 5, 13);
    }

    /** Whether a learner answers {@code GET /readyz/linearizable_read} on its client port. */
    public boolean learnerReadIndexOverHttp() {
        return !isUnderstudy() && atLeast(3, 5, 11);
    }

    /** Learners a cluster may have unless its operator says otherwise; from 3.6 {@code --max-learners} raises it. */
    public int defaultMaxLearners() {
        return 1;
    }

    /** Whether {@code --max-learners} exists. */
    public boolean maxLearnersConfigurable() {
        return atLeast(3, 6, 0);
    }

    /** Whether MemberUpdate of a learner keeps it a learner; older ones silently make it a voter. */
    public boolean memberUpdateKeepsLearner() {
        return (major == 3 && minor == 5) ? patch >= 31 : atLeast(3, 6, 12);
    }

    /**
     * The version that a member has to run first, before it may be restarted as {@code target}; empty if it may be at once.
     * etcd supports upgrades by one minor version, and the members that older releases promoted stop 3.6 and 3.7 from starting
     * ("too many learner members"): at least 3.5.26 before 3.6 and 3.6.11 before 3.7 (etcd website #1165 and #1168).
     */
    public Optional<EtcdVersion> upgradeThrough(EtcdVersion target) {
        if (equals(UNKNOWN) || target.major != major || target.minor <= minor) {
            return Optional.empty();
        }
        EtcdVersion safe = new EtcdVersion(major, minor, minor == 5 ? 26 : minor == 6 ? 11 : 0, "");
        if (compareTo(safe) < 0) {
            return Optional.of(safe);
        }
        return target.minor == minor + 1
                ? Optional.empty()
                : Optional.of(new EtcdVersion(major, minor + 1, minor + 1 == 6 ? 11 : 0, ""));
    }

    public boolean atLeast(int wantedMajor, int wantedMinor, int wantedPatch) {
        return compareTo(new EtcdVersion(wantedMajor, wantedMinor, wantedPatch, "")) >= 0;
    }

    /** By the three numbers. */
    @Override
    public int compareTo(EtcdVersion other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return equals(UNKNOWN) ? "unknown" : major + "." + minor + "." + patch + suffix;
    }
}
