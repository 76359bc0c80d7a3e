package io.understudy.cli;

import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy health}: asks a process how it is, where there is no other program to do so, as in a container. */
@Command(
        name = "health",
        description = "Check the health endpoint of a gateway, mirror or supervisor.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:healthy (HTTP 200)", "1:unhealthy, or no response in time", "2:usage error"})
final class HealthCommand implements Callable<Integer> {

    private static final int HEALTHY = 200;

    @Option(
            names = "--url",
            defaultValue = "http://127.0.0.1:2379/livez",
            converter = UrlFlag.class,
            paramLabel = "URL",
            description = "Health endpoint, /livez or /readyz (default: ${DEFAULT-VALUE}, a gateway). Default port of "
                    + "mirrors: 8081; of supervisors: 8082.")
    private URI url;

    @Option(
            names = "--timeout",
            defaultValue = "3s",
            paramLabel = "TIME",
            converter = DurationFlag.class,
            description = "Timeout for the complete response (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    @Mixin
    private TlsFlags tls;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(url).build();
        HttpClient http;
        try (TlsContext context = TlsContext.of(tls.files(spec.commandLine()))) {
            http = context.applyTo(HttpClient.newBuilder())
                    .version(HttpClient.Version.HTTP_1_1)
                    .build();
        }
        HttpResponse<String> answer = answer(http, request);
        if (answer.statusCode() != HEALTHY) {
            throw new IOException(url + " returned HTTP status " + answer.statusCode() + ": "
                    + answer.body().strip());
        }
        spec.commandLine().getOut().println(answer.body().strip());
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }

    /** The client's own timeouts end with the answer's head. */
    private HttpResponse<String> answer(HttpClient http, HttpRequest request) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<String>> answer = http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try {
            return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new IOException("no response from " + url + ": " + e.getCause(), e);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new IOException("no response from " + url + " within " + timeout.toMillis() + " ms", e);
        }
    }
}
