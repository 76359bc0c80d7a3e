package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.binary.EtcdBinaries;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Writes with {@code etcdctl}, a hundred operations to a transaction, as a process start for each would take minutes. */
final class Etcdctl {

    private static final int ATTEMPTS = 20;

    private final String endpoints;
    private final String program = EtcdBinaries.find().etcdctl().toString();

    Etcdctl(List<URI> endpoints) {
        this.endpoints = endpoints.stream().map(URI::toString).collect(Collectors.joining(","));
    }

    /** Applies {@code put KEY VALUE} and {@code del KEY} lines as one commit; again if a member dies meanwhile. */
    void transact(List<String> operations) throws IOException, InterruptedException {
        String input = "\n" + String.join("\n", operations) + "\n\n\n";
        String output = "";
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Process etcdctl = new ProcessBuilder(program, "--endpoints=" + endpoints, "txn")
                    .redirectErrorStream(true)
                    .start();
            etcdctl.outputWriter(StandardCharsets.UTF_8).append(input).close();
            output = new String(etcdctl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (etcdctl.waitFor(60, TimeUnit.SECONDS) && etcdctl.exitValue() == 0) {
                assertThat(output).contains("SUCCESS");
                return;
            }
        }
        throw new AssertionError("etcdctl txn fails again and again: " + output);
    }
}
