package io.understudy.cli;

import picocli.CommandLine.IVersionProvider;

/** The version in the manifest of the jar this class came from. */
final class DistributionVersion implements IVersionProvider {

    @Override
    public String[] getVersion() {
        String version = DistributionVersion.class.getPackage().getImplementationVersion();
        return new String[] {"understudy " + (version == null ? "(built in place)" : version)};
    }
}
