package io.understudy.gateway.member;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.Setting;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Whom clients see as members.
 *
 * @param advertise where clients reach this gateway; at least one if gateways are shown
 * @param others where clients reach other gateways of the source, by name
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

        Map<String, List<URI>> others) {

    private static final String OTHERS = "gateways";

    private static final Setting<List<URI>> URLS = Setting.uris(
                    "urls", "Client URLs of the other gateway of the source with this name.")
            .optionally()
            .example("http://gateway-2.example:2379");

    public static final MemberSettings DEFAULTS = Binder.defaults(MemberSettings.class, Map.of("others", Map.of()));

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = Stream.concat(
                    Binder.rows(MemberSettings.class).stream(), Stream.of(URLS.under(OTHERS + ".*")))
            .toList();

    public MemberSettings {
        advertise = List.copyOf(advertise);
        others = Map.copyOf(others);
        if (shown == MembersShown.GATEWAYS && advertise.isEmpty()) {
            throw new IllegalArgumentException(
                    "members is gateways, but advertise is not set; set it to the client URLs of this gateway");
        }
        if (shown == MembersShown.SOURCE && !others.isEmpty()) {
            throw new IllegalArgumentException(
                    "gateways is set, but members is source; set members to gateways or remove gateways");
        }
    }

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static MemberSettings from(Configuration configuration) {
        Map<String, List<URI>> others = new LinkedHashMap<>();
        for (String name : configuration.names(OTHERS)) {
            configuration.at(OTHERS + "." + name).find(URLS).ifPresent(urls -> others.put(name, urls));
        }
        return configuration.bind(MemberSettings.class, Map.of("others", others));
    }
}
