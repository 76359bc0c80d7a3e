package io.understudy.cluster.supervise.rule;

/**
 * State of one member, with the evidence for it.
 *
 * @param evidence measurements, as text
 */
public record Finding(MemberState state, String evidence) {

    boolean is(MemberState.Action action) {
        return state.action() == action;
    }
}
