package io.understudy.gateway.json;

/** A value of another kind, or out of bounds, for the field it is meant for; whoever knows the field words the error. */
final class UnfitValue extends Exception {

    private static final long serialVersionUID = 1L;

    UnfitValue() {
        super("unfit", null, false, false);
    }
}
