package io.understudy.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What figures depend on, besides the code.
 *
 * @param cores of this machine, which the servers and the load generator share
 * @param otherLoad processes that ran or waited to run before the benchmark did anything, as an average over a minute
 * @param etcd version
 * @param java version that the gateway runs on
 * @param gatewayJvm options of the gateway's JVM
 * @param loadGenerator what sends the requests
 */
public record Surroundings(
        int cores, double otherLoad, String etcd, String java, List<String> gatewayJvm, String loadGenerator) {

    public Surroundings {
        gatewayJvm = List.copyOf(gatewayJvm);
    }

    /** The options for tuning on the command line of a JVM that runs. */
    static List<String> jvmOptions(long pid) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"), StandardCharsets.UTF_8);
            return Stream.of(line.split("\0", -1))
                    .filter(argument -> argument.startsWith("-X"))
                    .toList();
        } catch (IOException e) {
            throw new BenchException("cannot read the options of process " + pid, e);
        }
    }

    /** The surroundings of benchmarks without a common gateway, in one line. */
    public static String text(double load, Object etcd) {
        return String.format(
                Locale.ROOT,
                "%d cores, load average before %.1f, etcd %s, Java %s",
                Runtime.getRuntime().availableProcessors(),
                load,
                etcd,
                System.getProperty("java.version"));
    }

    /** In one line. */
    String toText() {
        return cores + " cores, load average before " + String.format(Locale.ROOT, "%.1f", otherLoad) + ", etcd " + etcd
                + ", Java " + java + " with " + gatewayJvm.stream().collect(Collectors.joining(" ")) + ", load by "
                + loadGenerator;
    }
}
