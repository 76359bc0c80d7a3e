package io.understudy.cli;

import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code understudy health}: reads a health endpoint, for containers without another HTTP client. */
@Command(
        name = "health",
        description = "Check the health endpoint of a gateway, mirror or supervisor.",
        exitCodeList = {"0:healthy", "1:unhealthy, or no response in time", "2:usage error"})
final class HealthCommand implements Callable<Integer> {

    private static final int HEALTHY = 200;

    /**
     * A healthy answer of a gateway, mirror, supervisor or etcd. It is "ok", after the checks if verbose, or the JSON
     * of {@code /health}.
     */
    private static final Pattern ANSWER = Pattern.compile("(\\[\\+].*\n)*ok|\\{\"health\":\\s*\"?true\\b.*}");

    @Option(
            names = "--url",
            defaultValue = "http://127.0.0.1:2379/livez",
            paramLabel = "URL",
            description =
                    "Health endpoint, /livez (without a path) or /readyz (default: ${DEFAULT-VALUE}, a gateway). Default port of "
                            + "mirrors: 8081; of supervisors: 8082.")
    private URI url;

    @Option(
            names = "--timeout",
            defaultValue = "3s",
            paramLabel = "TIME",
            description = "Timeout for a process to respond (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    @Mixin
    private Flags.Tls tls;

    @Mixin
    private Output output;

    @Override
    public Integer call() throws Exception {
        URI page = url.getPath().isEmpty() ? url.resolve("/livez") : url;
        HttpRequest request = HttpRequest.newBuilder(page).build();
        HttpClient http;
        try (TlsContext context = TlsContext.of(tls.files(output.command()))) {
            http = context.applyTo(HttpClient.newBuilder())
                    .version(HttpClient.Version.HTTP_1_1)
                    .build();
        }
        HttpResponse<String> response =
                Flags.within(timeout, page, () -> http.send(request, HttpResponse.BodyHandlers.ofString()));
        String body = response.body().strip();
        if (response.statusCode() != HEALTHY) {
            throw new IOException(page + " returned HTTP status " + response.statusCode() + ": " + body);
        }
        if (!ANSWER.matcher(body).matches()) {
            throw new IOException("not healthy: unexpected answer from " + page + "; check the URL");
        }
        output.text("response", body);
        return ExitCode.OK;
    }
}
