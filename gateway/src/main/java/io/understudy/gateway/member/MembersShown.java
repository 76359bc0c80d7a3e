package io.understudy.gateway.member;

/** The members in a member list; some clients connect to all of them. */
public enum MembersShown {
    /** The members of the source. */
    SOURCE,
    /** This gateway and the configured others. */
    GATEWAYS
}
