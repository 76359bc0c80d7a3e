package io.understudy.config;

/** A condition on several settings together. */
@FunctionalInterface
public interface Check {

    /**
     * Reads what it needs from the configuration, and complains about combinations that can't work. Left out when one of
     * the values it reads is itself refused. An {@link IllegalArgumentException} thrown by it counts as a problem.
     */
    void check(Configuration configuration, Report report);

    /** Where complaints go. */
    interface Report {
        /**
         * A problem with one setting, in the light of others.
         *
         * @param at the part of the configuration the setting was read from
         * @param message what is wrong and what is allowed, following the key: {@code "needs … as well"}
         */
        void problem(Configuration at, Setting<?> setting, String message);

        /**
         * Does a part of the check that is left out, or throws, by itself: what is wrong with one mirror keeps none of the
         * others from being looked at.
         *
         * @return whether it was done, and didn't throw
         */
        boolean part(Runnable part);
    }
}
