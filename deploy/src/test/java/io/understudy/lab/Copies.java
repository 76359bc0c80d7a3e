package io.understudy.lab;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads whole states by plain clients. */
final class Copies {

    /** Below this lies what Understudy keeps for itself in a target. */
    private static final String FIRST_KEY = " ";

    private static final int MAX_MESSAGE_BYTES = 64 << 20;

    private Copies() {}

    /** By a linearizable read: with revisions, versions and leases, in key order. */
    static List<KeyValue> ofCluster(URI member) {
        return range(member, false);
    }

    /** By a serializable read. */
    static List<KeyValue> ofServer(URI server) {
        return range(server, true);
    }

    /** Without what is each cluster's own. */
    static Map<String, String> values(List<KeyValue> entries) {
        Map<String, String> values = new TreeMap<>();
        entries.forEach(entry ->
                values.put(entry.getKey().toStringUtf8(), entry.getValue().toStringUtf8()));
        return values;
    }

    private static List<KeyValue> range(URI server, boolean serializable) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(server.getHost(), server.getPort())
                .usePlaintext()
                .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                .build();
        try {
            return KVGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .range(RangeRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8(FIRST_KEY))
                            .setRangeEnd(ByteString.copyFrom(new byte[] {0}))
                            .setSerializable(serializable)
                            .build())
                    .getKvsList();
        } finally {
            channel.shutdownNow();
        }
    }

    /** The last record of each key; a tombstone means no key. */
    static Map<String, String> ofTopic(String bootstrapServers, String topic) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of(
                        ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrapServers,
                        ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
                        false,
                        ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                        "read_committed"),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Map<String, String> state = new TreeMap<>();
            while (!reached(consumer, ends)) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    if (record.key().isEmpty()) {
                        // A mark: about no key.
                        continue;
                    }
                    if (record.value() == null) {
                        state.remove(record.key());
                    } else {
                        state.put(record.key(), record.value());
                    }
                }
            }
            return state;
        }
    }

    private static boolean reached(KafkaConsumer<?, ?> consumer, Map<TopicPartition, Long> ends) {
        Set<Map.Entry<TopicPartition, Long>> wanted = ends.entrySet();
        return wanted.stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }
}
