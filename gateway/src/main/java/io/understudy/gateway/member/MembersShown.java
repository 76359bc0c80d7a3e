package io.understudy.gateway.member;

/** Whom a client sees that asks for the members: some connect to all of them. */
public enum MembersShown {
    /** Those of the source. */
    SOURCE,
    /** This gateway and the others that the operator names. */
    GATEWAYS
}
