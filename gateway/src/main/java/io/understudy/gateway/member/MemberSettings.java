package io.understudy.gateway.member;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The members that clients see.
 *
 * @param advertise at least one if gateways are shown
 * @param others gateways of the source, by name
 */
public record MemberSettings(
        @Configured(
                key = "members",
                value =
                        "Members returned by MemberList, to which some clients connect. source: the members of the source."
                                + " gateways: this gateway (advertise) and those listed in gateways.",
                byDefault = "source")
        MembersShown shown,

        @Configured(
                value = "Client URLs of this gateway; required if members is gateways.",
                optional = true,
                example = "http://gateway-1.example:2379")
        List<URI> advertise,

        @Configured.Group("gateways") Map<String, Gateway> others) {

    /** Another gateway. */
    public record Gateway(
            @Configured(
                    value = "Client URLs of the other gateway of the source with this name.",
                    optional = true,
                    example = "http://gateway-2.example:2379")
            List<URI> urls) {}

    public static final MemberSettings DEFAULTS = Binder.defaults(MemberSettings.class);

    public MemberSettings {
        advertise = List.copyOf(advertise);
        others = others.entrySet().stream()
                .filter(other -> !other.getValue().urls().isEmpty())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
        if (shown == MembersShown.GATEWAYS && advertise.isEmpty()) {
            throw new IllegalArgumentException(
                    "members is gateways, but advertise is not set; set it to the client URLs of this gateway");
        }
        if (shown == MembersShown.SOURCE && !others.isEmpty()) {
            throw new IllegalArgumentException(
                    "gateways is set, but members is source; set members to gateways or remove gateways");
        }
    }

    /** The members in a member list; some clients connect to all of them. */
    public enum MembersShown {
        /** The members of the source. */
        SOURCE,
        /** This gateway and the configured others. */
        GATEWAYS
    }
}
