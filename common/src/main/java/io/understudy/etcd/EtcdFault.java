package io.understudy.etcd;

/** A fault of etcd 3.5, 3.6 or 3.7 that a later patch corrects. */
enum EtcdFault {
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

    /** The first patch of a minor version without the fault; 0 for a minor version that never had it. */
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
        return text + ", corrected in " + version.major() + "." + version.minor() + "." + firstWithout(version.minor());
    }
}
