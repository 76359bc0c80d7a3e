package io.understudy.consumer.format;

import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts and logs records of other writers in a mirror's topics, which readers skip. Thread-safe. */
public final class StrayRecords {

    private static final Logger LOG = LoggerFactory.getLogger(StrayRecords.class);

    /** A state topic keeps its stray records, and every reader meets all of them. */
    private static final int LOGGED_PER_MINUTE = 10;

    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Runnable counter;
    private long minuteNanos = System.nanoTime();
    private int logged;

    /** @param counter run for each record that is skipped */
    public StrayRecords(Runnable counter) {
        this.counter = counter;
    }

    /** Reports one record. */
    public synchronized void skipped(ConsumerRecord<byte[], byte[]> record, String why) {
        counter.run();
        if (System.nanoTime() - minuteNanos > MINUTE_NANOS) {
            minuteNanos = System.nanoTime();
            logged = 0;
        }
        if (++logged <= LOGGED_PER_MINUTE) {
            LOG.atWarn()
                    .addKeyValue("topic", record.topic())
                    .addKeyValue("partition", record.partition())
                    .addKeyValue("offset", record.offset())
                    .addKeyValue("cause", why)
                    .log(
                            logged < LOGGED_PER_MINUTE
                                    ? "stray record skipped"
                                    : "stray record skipped; further ones are only counted for a minute");
        }
    }
}
