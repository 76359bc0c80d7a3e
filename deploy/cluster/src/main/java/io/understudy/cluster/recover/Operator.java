package io.understudy.cluster.recover;

/** Prints progress to the operator, and reads confirmations. */
public interface Operator {

    /** Prints a line. */
    void print(String line);

    /** Returns whether to do the step. */
    boolean confirms(String step);
}
