package io.understudy.etcd;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A server's version and its features: the only place with the differences of etcd's releases.
 *
 * @param suffix pre-release and build as in semantic versions, such as {@code -rc.0} or {@code +understudy}
 */
public record EtcdVersion(int major, int minor, int patch, String suffix) implements Comparable<EtcdVersion> {

    /** Version of a server that reported none; older than all others. */
    public static final EtcdVersion UNKNOWN = new EtcdVersion(0, 0, 0, "");

    /** The newest version of the API that gateways serve. */
    public static final EtcdVersion NEWEST = new EtcdVersion(3, 7, 3, "");

    private static final String GATEWAY = "understudy";

    private static final String IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";

    private static final Pattern FORM = Pattern.compile("(?<![0-9A-Za-z.])(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6})((?:-"
            + IDENTIFIERS + ")?(?:\\+" + IDENTIFIERS + ")?)(?![0-9A-Za-z.+-])");

    private static final Comparator<EtcdVersion> NUMBERS = Comparator.comparingInt(EtcdVersion::major)
            .thenComparingInt(EtcdVersion::minor)
            .thenComparingInt(EtcdVersion::patch);
    private static final Comparator<EtcdVersion> ORDER = NUMBERS.thenComparing(
                    version -> version.preRelease().isEmpty())
            .thenComparing(EtcdVersion::preRelease, EtcdVersion::compareIdentifiers);

    /** Reads the version a server reports; {@link #UNKNOWN} for anything else. */
    public static EtcdVersion parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        return matcher.matches() ? of(matcher) : UNKNOWN;
    }

    /** Returns the first version in a text such as {@code etcd Version: 3.7.0-rc.0}; {@link #UNKNOWN} without one. */
    public static EtcdVersion in(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.find() ? of(matcher) : UNKNOWN;
    }

    private static EtcdVersion of(Matcher matcher) {
        return new EtcdVersion(
                Integer.parseInt(matcher.group(1)),
                Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(3)),
                matcher.group(4));
    }

    /** Returns the part of the suffix that precedes a release, such as {@code rc.0}; empty for a release. */
    private String preRelease() {
        return suffix.startsWith("-") ? suffix.substring(1).replaceFirst("\\+.*", "") : "";
    }

    /** Compares as semantic versions: numbers by value and before texts, the longer one last. */
    private static int compareIdentifiers(String one, String other) {
        String[] left = one.split("\\.", -1);
        String[] right = other.split("\\.", -1);
        for (int at = 0; at < Math.min(left.length, right.length); at++) {
            boolean isNumber = left[at].matches("\\d{1,9}");
            boolean isOtherNumber = right[at].matches("\\d{1,9}");
            int order = isNumber && isOtherNumber
                    ? Integer.compare(Integer.parseInt(left[at]), Integer.parseInt(right[at]))
                    : isNumber != isOtherNumber ? (isNumber ? -1 : 1) : left[at].compareTo(right[at]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.length, right.length);
    }

    /** Whether a gateway reported this version, not etcd. */
    public boolean isUnderstudy() {
        return suffix.contains(GATEWAY);
    }

    /** The version that a gateway reports for this source: {@link #NEWEST} for a later minor version. */
    public EtcdVersion ofGateway() {
        EtcdVersion served = major == NEWEST.major && minor <= NEWEST.minor ? this : NEWEST;
        // A semantic version has one part of build metadata.
        String separator = served.suffix.contains("+") ? "." : "+";
        return served.isUnderstudy()
                ? served
                : new EtcdVersion(served.major, served.minor, served.patch, served.suffix + separator + GATEWAY);
    }

    /** The version without suffix. */
    public String numbers() {
        return major + "." + minor + "." + patch;
    }

    /** Cluster version, if this is the oldest voting member's version. */
    public String ofCluster() {
        return major + "." + minor + ".0";
    }

    /** Whether a range with {@code keys_only} lacks leases ({@code mvcc/kvstore_txn.go}); not one sorted by value. */
    public boolean keysOnlyOmitsLease() {
        return atLeast(3, 7, 0);
    }

    /**
     * Whether requests are decoded by google's protobuf. With gogo's, before 3.7, an empty range end differs from none,
     * and a field of another wire type is an error instead of an unknown field.
     */
    public boolean decodesByGoogle() {
        return atLeast(3, 7, 0);
    }

    /** Whether Status requires the role {@code root} where authentication is enabled; later any user is answered. */
    public boolean statusRequiresRoot() {
        return (major == 3 && minor == 5) ? patch < 32 : !atLeast(3, 6, 12);
    }

    /** Whether AuthStatus requires the role {@code root} where authentication is enabled; later anyone is answered. */
    public boolean authStatusRequiresRoot() {
        return !atLeast(3, 7, 0);
    }

    /** Whether members report the version of their data; {@code GET /version} names a missing one. */
    public boolean reportsStorageVersion() {
        return atLeast(3, 6, 0);
    }

    /**
     * Whether members with data of that storage version start and can be upgraded ({@code storage/schema.Validate}). 3.5
     * does not check the version, but 3.6, its only next version, starts with no later data. True if either is unknown.
     */
    public boolean supportsData(EtcdVersion storage) {
        return equals(UNKNOWN) || !storage.atLeast(3, 7, 0) || atLeast(storage.major, storage.minor, 0);
    }

    /** Whether a range with an unknown sort order or target is rejected ({@code v3rpc/key.go}). */
    public boolean rejectsUnknownSort() {
        return atLeast(3, 6, 0);
    }

    /** Whether learners reject calls with FailedPrecondition, not Unavailable ({@code rpctypes/error.go}). */
    public boolean learnerRejectsForGood() {
        return atLeast(3, 6, 0);
    }

    /** Known faults that a later patch fixes, and a notice if the version is untested. */
    public List<String> warnings() {
        if (equals(UNKNOWN) || isUnderstudy()) {
            return List.of();
        }
        if (!atLeast(3, 5, 0)) {
            return List.of("versions before 3.5 are not supported");
        }
        if (major != NEWEST.major || minor > NEWEST.minor) {
            return List.of("newer than " + NEWEST.major + "." + NEWEST.minor + ", not tested");
        }
        return Stream.of(EtcdFault.values())
                .filter(fault -> fault.isOf(this))
                .map(fault -> fault.text(this))
                .toList();
    }

    /** Returns why a watch may not deliver every event in order; empty if it does. */
    public Optional<String> watchFault() {
        if (!isUnderstudy() && !atLeast(3, 5, 0)) {
            return Optional.of("versions before 3.5 are not supported");
        }
        return Stream.of(EtcdFault.LOST_EVENTS, EtcdFault.CHANGED_EVENTS)
                .filter(fault -> fault.isOf(this))
                .map(fault -> fault.text(this))
                .findFirst();
    }

    /** Whether a member list is linearizable; older members and gateways answer from memory. */
    public boolean confirmsMembers() {
        return !isUnderstudy() && atLeast(3, 5, 0);
    }

    /** Whether a learner answers {@code GET /readyz/linearizable_read} on its client port. */
    public boolean learnerReadIndexOverHttp() {
        return !isUnderstudy() && atLeast(3, 5, 11);
    }

    /** Learners a cluster may have by default; from 3.6 {@code --max-learners} raises it. */
    public int defaultMaxLearners() {
        return 1;
    }

    /** Whether {@code --max-learners} exists. */
    public boolean maxLearnersConfigurable() {
        return atLeast(3, 6, 0);
    }

    /** Whether MemberUpdate of a learner keeps it a learner. Older versions silently make it a voter. */
    public boolean memberUpdateKeepsLearner() {
        return atLeast(3, 5, 0) && !EtcdFault.UPDATED_LEARNERS.isOf(this);
    }

    /**
     * Returns the version that a member must run before {@code target}; empty if none. Only upgrades by one minor
     * version are supported by etcd. Members that older releases promoted stop 3.6 and 3.7 from starting ("too many
     * learner members"): at least 3.5.26 before 3.6 and 3.6.11 before 3.7 (etcd website #1165 and #1168).
     */
    public Optional<EtcdVersion> upgradeThrough(EtcdVersion target) {
        if (equals(UNKNOWN) || target.major != major || target.minor <= minor) {
            return Optional.empty();
        }
        EtcdVersion safe = new EtcdVersion(major, minor, EtcdFault.UPGRADE.firstWithout(minor), "");
        if (!atLeast(safe.major, safe.minor, safe.patch)) {
            return Optional.of(safe);
        }
        return target.minor == minor + 1
                ? Optional.empty()
                : Optional.of(new EtcdVersion(major, minor + 1, EtcdFault.UPGRADE.firstWithout(minor + 1), ""));
    }

    /** Compares the three numbers: a pre-release has the features of its release. */
    public boolean atLeast(int wantedMajor, int wantedMinor, int wantedPatch) {
        return NUMBERS.compare(this, new EtcdVersion(wantedMajor, wantedMinor, wantedPatch, "")) >= 0;
    }

    /** Compares as semantic versions: a pre-release comes before its release, and builds are equal. */
    @Override
    public int compareTo(EtcdVersion other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return equals(UNKNOWN) ? "unknown" : major + "." + minor + "." + patch + suffix;
    }

    /** A fault of etcd 3.5, 3.6 or 3.7 that a later patch corrects. */
    private enum EtcdFault {
        LOST_EVENTS("a watch can lose events silently (etcd#15220, etcd#17555)", 13, 0, 0),
        CHANGED_EVENTS("a watch can deliver events of another watcher (etcd#21355)", 0, 9, 0),
        STALE_READS("a linearizable read after a pause of the process can be stale (etcd#20418)", 28, 9, 0),
        NESTED_PERMISSIONS("permission checks skip nested transactions (security advisory)", 28, 9, 0),
        PREVIOUS_VALUES("a put with prev_kv in a transaction reads without permission (security advisory)", 30, 11, 0),
        REVOKED_CERTIFICATES("revoked client certificates are accepted (security advisory)", 32, 13, 0),
        OPEN_WATCHES("a watch from a key on needs permission for that key only (GHSA-xg4h-6gfc-h4m8)", 33, 14, 1),
        UPDATED_LEARNERS("updating the peer URLs of a learner makes it a voting member", 31, 12, 0),
        UPGRADE("an upgrade to the next minor version can stop members", 26, 11, 0);

        private final String text;
        private final int in5;
        private final int in6;
        private final int in7;

        /** The first patch of each minor version without the fault. */
        EtcdFault(String text, int in5, int in6, int in7) {
            this.text = text;
            this.in5 = in5;
            this.in6 = in6;
            this.in7 = in7;
        }

        boolean isOf(EtcdVersion version) {
            return !version.isUnderstudy() && version.major() == 3 && version.patch() < firstWithout(version.minor());
        }

        /** Returns the first patch of a minor version without the fault. For a minor version that never had it: 0. */
        int firstWithout(int minor) {
            return switch (minor) {
                case 5 -> in5;
                case 6 -> in6;
                case 7 -> in7;
                default -> 0;
            };
        }

        /** The fault of {@code version}, and the first patch without it. */
        String text(EtcdVersion version) {
            return text + ", corrected in " + version.major() + "." + version.minor() + "."
                    + firstWithout(version.minor());
        }
    }
}
