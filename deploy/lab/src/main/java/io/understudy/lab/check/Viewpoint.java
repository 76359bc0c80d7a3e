package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.understudy.lab.failure.LabException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A place where a write to the core cluster must show. Used by one thread at a time. */
public interface Viewpoint extends AutoCloseable {

    /** Name for people. */
    String name();

    /**
     * Connects, so that what follows is not slowed down by it.
     *
     * @throws LabException it can't be reached within the deadline
     */
    void connect(Duration deadline) throws InterruptedException;

    /**
     * Waits until the key has the value.
     *
     * @param value null for until the key is gone
     * @throws LabException that is not so within the deadline; the message names what was seen instead
     */
    void await(ByteString key, @Nullable ByteString value, Duration deadline) throws InterruptedException;

    @Override
    void close();
}
