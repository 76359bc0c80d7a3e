package io.understudy.cluster.recover;

/** Who decides. */
public interface Operator {

    /** Told what was found and done. */
    void tell(String line);

    /** Asked before each step; whether to go on. */
    boolean confirms(String step);
}
