package io.understudy.gateway.json;

/** A value of the wrong type, or out of range, for its field. The caller adds the field to the error. */
final class UnfitValue extends Exception {

    private static final long serialVersionUID = 1L;

    UnfitValue() {
        super("unfit", null, false, false);
    }
}
