package io.understudy.cli;

import java.net.URI;
import picocli.CommandLine.Option;

/** Which running supervisor is asked. */
final class SupervisorFlag {

    @Option(
            names = "--url",
            defaultValue = "http://127.0.0.1:8082",
            paramLabel = "URL",
            description = "The supervisor's address; ${DEFAULT-VALUE} by default.")
    private URI url;

    URI url() {
        return url;
    }
}
