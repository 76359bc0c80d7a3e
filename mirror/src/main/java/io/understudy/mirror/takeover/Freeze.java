package io.understudy.mirror.takeover;

import io.understudy.mirror.scope.ReservedKeys;

/** Keeps a cluster from being written, until lifted. Safe to do again; one thread. */
sealed interface Freeze permits AlarmFreeze, AuthFreeze, NoFreeze {

    String does();

    String needs();

    String undone();

    /** What the journal must hold so that the freeze can be lifted. */
    Journal prepare(Journal journal);

    void raise(Journal journal);

    boolean isRaised(Journal journal);

    void lift(Journal journal);

    /** Whether a cluster is frozen, by whomever, or is out of space, as far as it tells without the journal. */
    static boolean isFound(PatientCalls cluster, String mirror) {
        return new AlarmFreeze(cluster).isFound()
                || cluster.get(ReservedKeys.freeze(mirror)).isPresent();
    }

    static Freeze of(FreezeMode mode, Parties parties) {
        return switch (mode) {
            case ALARM -> new AlarmFreeze(parties.source());
            case AUTH -> new AuthFreeze(parties.source(), parties.scope(), parties.mirror());
            case NONE -> new NoFreeze();
        };
    }
}
