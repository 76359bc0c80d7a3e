package io.understudy.mirror.active;

/** Where a process stands among those of one mirror. */
public sealed interface Standing {

    /** It is the one that writes. */
    record Active() implements Standing {
        @Override
        public String toString() {
            return "active";
        }
    }

    /**
     * Another one is.
     *
     * @param holder its name
     */
    record Standby(String holder) implements Standing {
        @Override
        public String toString() {
            return "standby to " + holder;
        }
    }

    /** The target is being asked for the first time. */
    record Undecided() implements Standing {
        @Override
        public String toString() {
            return "undecided";
        }
    }

    /** The target has not told, or not for so long that another one may be active. */
    record Unknown(String why) implements Standing {
        @Override
        public String toString() {
            return "unknown: " + why;
        }
    }

    /** The target will not tell; an operator is needed. */
    record Refused(String why) implements Standing {
        @Override
        public String toString() {
            return "refused: " + why;
        }
    }
}
