package io.understudy.lab.part;

import io.understudy.lab.part.Part.Child;
import io.understudy.lab.progress.Progress;
import io.understudy.lab.progress.Progress.Phase;
import io.understudy.local.kafka.LocalKafka;
import io.understudy.local.kafka.LocalKafkaBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The Kafka broker. */
public final class KafkaPart implements Part {

    private static final String NAME = "kafka";

    private final LocalKafkaBuilder description;
    private final Progress progress;
    private volatile @Nullable LocalKafka broker;
    private volatile List<Child> children = List.of();

    public KafkaPart(LocalKafkaBuilder description, Progress progress) {
        this.description = description;
        this.progress = progress;
        progress.add(NAME, "");
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void start() {
        progress.change(NAME, Phase.STARTING, "");
        LocalKafka started = description.build();
        broker = started;
        started.start();
        children = List.of(Child.of(started.process()));
        progress.change(NAME, Phase.READY, "");
    }

    @Override
    public List<Child> children() {
        return children;
    }

    @Override
    public void stop() {
        LocalKafka started = broker;
        if (started != null) {
            if (started.isAlive()) {
                started.stop();
            }
            started.close();
        }
    }
}
