package io.understudy.cli;

import io.understudy.tls.TlsFiles;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which running supervisor is asked. */
final class SupervisorFlag {

    @Option(
            names = "--url",
            defaultValue = "http://127.0.0.1:8082",
            paramLabel = "URL",
            description = "URL of the supervisor (default: ${DEFAULT-VALUE}).")
    private URI url;

    @Mixin
    private TlsFlags tls;

    URI url() {
        return url;
    }

    /** As those of {@link TlsFlags#files}. */
    @Nullable TlsFiles files(CommandLine command) {
        return tls.files(command);
    }
}
