package io.understudy.cluster.supervise.elect;

/** Where a supervisor stands among those of its cluster. */
public sealed interface Standing {

    /** It is the one that acts. */
    record Active() implements Standing {
        @Override
        public String toString() {
            return "active";
        }
    }

    /** Another one is. */
    record Standby(String holder) implements Standing {
        @Override
        public String toString() {
            return "standby to " + holder;
        }
    }

    /** The cluster has not told, or not for so long that another one may act. */
    record Unknown(String why) implements Standing {
        @Override
        public String toString() {
            return "unknown: " + why;
        }
    }
}
