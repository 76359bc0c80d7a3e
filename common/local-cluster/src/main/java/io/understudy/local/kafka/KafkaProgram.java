package io.understudy.local.kafka;

import java.nio.file.Path;
import java.util.List;

/** How a broker is run: what to start, and with which arguments. */
public interface KafkaProgram {

    /** Absolute path of the program. */
    Path program();

    /**
     * Returns arguments that format the storage that the settings name, and end. Required before {@code run} on storage
     * that was never formatted.
     *
     * @param isController whether it is the controller of a new cluster
     */
    List<String> format(Path settings, String clusterId, boolean isController);

    /** Arguments that run the broker. */
    List<String> run(Path settings);
}
