package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Flags, values and features that a version of etcd lacks, by {@code embed/config.go}, {@code etcdmain/config.go} and
 * {@code features/etcd_features.go} of 3.5.33, 3.6.16 and 3.7.3.
 */
public final class RemovedFlags {

    /** Flags, and flags with a value. */
    private static final Set<String> IN_3_6 = Set.of(
            "discovery-fallback=proxy",
            "enable-v2",
            "experimental-enable-v2v3",
            "proxy",
            "proxy-dial-timeout",
            "proxy-failure-wait",
            "proxy-read-timeout",
            "proxy-refresh-interval",
            "proxy-write-timeout",
            "v2-deprecation=not-yet");

    /** Without {@code max-learners}, which members get as a variable. 3.7 adds none. */
    private static final Set<String> SINCE_3_6 = Set.of("""
            bootstrap-defrag-threshold-megabytes compact-hash-check-time compaction-batch-limit
            compaction-sleep-interval corrupt-check-time discovery-cacert discovery-cert discovery-dial-timeout
            discovery-insecure-skip-tls-verify discovery-insecure-transport discovery-keepalive-time
            discovery-keepalive-timeout discovery-key discovery-password discovery-request-timeout discovery-token
            discovery-user distributed-tracing-address distributed-tracing-instance-id
            distributed-tracing-sampling-rate distributed-tracing-service-name downgrade-check-time
            enable-distributed-tracing experimental-warning-unary-request-duration feature-gates log-format
            memory-mlock peer-skip-client-san-verification snapshot-catchup-entries warning-apply-duration
            warning-unary-request-duration watch-progress-notify-interval""".split("\\s+"));

    private static final Set<String> FEATURES_SINCE_3_7 = Set.of("FastLeaseKeepAlive", "PriorityRequest");

    private static final String EXPERIMENTAL = "experimental-";

    /** Flags removed in 3.7 that became features. */
    private static final Map<String, String> FEATURES = Map.of(
            "experimental-compact-hash-check-enabled", "CompactHashCheck",
            "experimental-initial-corrupt-check", "InitialCorruptCheck",
            "experimental-enable-lease-checkpoint", "LeaseCheckpoint",
            "experimental-enable-lease-checkpoint-persist", "LeaseCheckpointPersist",
            "experimental-stop-grpc-service-on-defrag", "StopGRPCServiceOnDefrag",
            "experimental-txn-mode-write-with-shared-buffer", "TxnModeWriteWithSharedBuffer");

    private RemovedFlags() {}

    /**
     * Returns the flags, values and features in {@code arguments} that {@code version} lacks, each with its replacement.
     *
     * @param arguments each as {@code --flag=value}
     */
    public static List<String> in(List<String> arguments, EtcdVersion version) {
        return arguments.stream()
                .flatMap(argument -> removed(argument.substring(2), version))
                .toList();
    }

    private static Stream<String> removed(String argument, EtcdVersion version) {
        String flag = argument.replaceFirst("=.*", "");
        if (version.atLeast(3, 6, 0) && (IN_3_6.contains(flag) || IN_3_6.contains(argument))) {
            return Stream.of("--" + (IN_3_6.contains(flag) ? flag : argument) + " (no successor)");
        }
        if (SINCE_3_6.contains(flag) && !version.atLeast(3, 6, 0)) {
            return Stream.of("--" + flag + " (since 3.6)");
        }
        if (!version.atLeast(3, 7, 0)) {
            return Stream.of(flag.equals("feature-gates") ? argument.split("[=,]", -1) : new String[0])
                    .map(String::strip)
                    .filter(FEATURES_SINCE_3_7::contains)
                    .map(feature -> "--feature-gates=" + feature + " (since 3.7)");
        }
        if (flag.equals("discovery") || flag.equals("discovery-proxy")) {
            return Stream.of("--" + flag + " (use --discovery-endpoints and --discovery-token)");
        }
        String feature = FEATURES.get(flag);
        if (feature != null) {
            return Stream.of("--" + flag + " (use --feature-gates=" + feature + "=true)");
        }
        return flag.startsWith(EXPERIMENTAL)
                ? Stream.of("--" + flag + " (use --" + flag.substring(EXPERIMENTAL.length()) + ")")
                : Stream.empty();
    }
}
