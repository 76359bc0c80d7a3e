package io.understudy.cluster.supervise.rule;

import java.util.Locale;

/**
 * States of a member, as a supervisor distinguishes them. The table of the documentation.
 *
 * <p>"The leader" is the leader of this observation. A fault lasts if the supervisor saw it in all observations
 * throughout {@code shape.deadTime}, in at least three, and the leader throughout its own tenure of at least that time.
 */
public enum MemberState {
    HEALTHY("no fault", "serves a linearizable read and names a leader", Action.NONE),
    JOINING("added, never started", "no name in the member list", Action.WAIT),
    SUSPECT(
            "a fault that does not last yet, or that the leader does not confirm",
            "no linearizable read, and no metrics of the leader or too little silence in them",
            Action.WAIT),
    DEAD(
            "its process ended",
            "no answer; process gone or client URLs refuse connections; the leader received nothing from it; lasts",
            Action.REPLACE),
    HUNG(
            "stopped, without CPU, its disk is frozen, or its host is down or unreachable",
            "no answer within the timeout; the leader received nothing from it; lasts",
            Action.REPLACE),
    CUT(
            "cut from or mute towards the leader, or the disk of its WAL is frozen",
            "Status is answered, no linearizable read; the leader received nothing from it; lasts",
            Action.REPLACE),
    DEAF(
            "receives nothing from the leader",
            "no linearizable read; its log is behind the commit index without progress; lasts",
            Action.REPLACE),
    UNREACHABLE(
            "in service for the cluster, not for this supervisor",
            "no answer; the leader received messages from it within 2 s",
            Action.REPORT),
    STUCK(
            "connected, but of no use for reads",
            "Status is answered, no linearizable read; the leader received messages from it within 2 s",
            Action.REPORT),
    STUCK_LEADER(
            "leads, but is of no use for reads, as when its database is frozen",
            "no linearizable read; a follower received messages from it within 2 s; lasts",
            Action.MOVE_LEADERSHIP),
    SLOW_DISK(
            "its disk delays writes",
            "healthy; a WAL fsync takes 250 ms or more on average over 10 s",
            Action.MOVE_LEADERSHIP),
    FLAPPING(
            "fails and recovers again and again",
            "healthy; three faults ended within 20 times shape.deadTime",
            Action.MOVE_LEADERSHIP),
    CLOCK_OFF("its clock differs", "healthy; over 5 s from the median of all members", Action.REPORT);

    /** Response of a supervisor to a state. */
    public enum Action {
        NONE("none"),
        WAIT("waits"),
        REPORT("reports it"),
        MOVE_LEADERSHIP("reports it; moves leadership to a healthy voting member, at most every 10 minutes"),
        REPLACE("replaces a voting member by a standby; starts a learner, or frees its slot for another");

        private final String text;

        Action(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    private final String definition;
    private final String detection;
    private final Action action;

    MemberState(String definition, String detection, Action action) {
        this.definition = definition;
        this.detection = detection;
        this.action = action;
    }

    public String definition() {
        return definition;
    }

    public String detection() {
        return detection;
    }

    public Action action() {
        return action;
    }

    /** Name as in documents and on the state page, such as {@code slow-disk}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
