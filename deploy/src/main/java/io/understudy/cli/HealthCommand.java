package io.understudy.cli;

import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy health}: asks a process how it is, where there is no other program to do so, as in a container. */
@Command(
        name = "health",
        description =
                "Ask a gateway, mirror or supervisor on one of its health pages, for health checks of containers.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:it answers 200", "1:it answers anything else, or nothing in time", "2:bad usage"})
final class HealthCommand implements Callable<Integer> {

    private static final int HEALTHY = 200;

    @Option(
            names = "--url",
            defaultValue = "http://127.0.0.1:2379/livez",
            paramLabel = "URL",
            description =
                    "The page, /livez or /readyz; ${DEFAULT-VALUE} by default, which is a gateway's. A mirror has "
                            + "them at port 8081, a supervisor at port 8082.")
    private URI url;

    @Option(
            names = "--timeout",
            defaultValue = "3s",
            paramLabel = "TIME",
            converter = DurationFlag.class,
            description = "How long to wait for the answer; ${DEFAULT-VALUE} by default.")
    private Duration timeout;

    @Mixin
    private TlsFlags tls;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        HttpClient http;
        try (TlsContext context = TlsContext.of(tls.files(spec.commandLine()))) {
            http = context.applyTo(HttpClient.newBuilder().connectTimeout(timeout))
                    .version(HttpClient.Version.HTTP_1_1)
                    .build();
        }
        HttpResponse<String> answer;
        try {
            answer = http.send(
                    HttpRequest.newBuilder(url).timeout(timeout).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IOException("no answer from " + url + ": " + e, e);
        }
        if (answer.statusCode() != HEALTHY) {
            throw new IOException(url + " answers " + answer.statusCode() + ": "
                    + answer.body().strip());
        }
        spec.commandLine().getOut().println(answer.body().strip());
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }
}
