package io.understudy.cli;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import java.util.EnumMap;
import java.util.Map;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** A flag for each of the lab's ports. */
final class LabPortFlags implements IModelTransformer {

    @Override
    public CommandSpec transform(CommandSpec spec) {
        for (LabPort port : LabPort.values()) {
            spec.addOption(OptionSpec.builder(port.flag())
                    .type(Integer.class)
                    .paramLabel("PORT")
                    .description(
                            "Port of " + port.part() + ": " + port.serves() + " (default: " + port.standard() + ").")
                    .build());
        }
        return spec;
    }

    /** The ports that were given, each a valid one. */
    static Map<LabPort, Integer> of(CommandSpec parsed) {
        Map<LabPort, Integer> given = new EnumMap<>(LabPort.class);
        for (LabPort port : LabPort.values()) {
            Integer number = parsed.findOption(port.flag()).getValue();
            if (number != null) {
                given.put(port, valid(parsed, port, number));
            }
        }
        return given;
    }

    private static int valid(CommandSpec parsed, LabPort port, int number) {
        try {
            return LabPorts.requireValid(port, number);
        } catch (LabException e) {
            throw new ParameterException(parsed.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
