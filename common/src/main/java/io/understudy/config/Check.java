package io.understudy.config;

/** A condition on several settings together. */
@FunctionalInterface
public interface Check {

    /**
     * Reports invalid combinations. Skipped when one of the values it reads was rejected. An {@link
     * IllegalArgumentException} thrown by it is a problem.
     */
    void check(Configuration configuration, Report report);

    /** Collects problems. */
    interface Report {
        /**
         * A problem with one setting, in the light of others.
         *
         * @param at the part of the configuration the setting was read from
         * @param message the problem and what is allowed, following the key: {@code "needs … as well"}
         */
        void problem(Configuration at, Setting<?> setting, String message);

        /**
         * Runs one part of the check. A problem of one mirror does not prevent checks of the others.
         *
         * @return whether it ended without exception
         */
        boolean part(Runnable part);
    }
}
