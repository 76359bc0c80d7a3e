package io.understudy.mirror.takeover;

import java.util.Locale;

/** How the source is kept from being written while the target takes over. */
public enum FreezeMode {
    /** A NOSPACE alarm, raised through the API: puts and lease grants are refused, deletes and expiries go on. */
    ALARM,
    /** Write permissions in the mirrored range are withdrawn from all roles. Users with the role root can still write. */
    AUTH,
    /** Not at all: the operator says that writers are stopped. */
    NONE;

    /** As given, stored and shown. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
