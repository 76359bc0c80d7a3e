package io.understudy.gateway.member;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Whom clients see as members.
 *
 * @param advertise where clients reach this gateway; at least one if gateways are shown
 * @param others where clients reach other gateways of the source, by name
 */
public record MemberSettings(MembersShown shown, List<URI> advertise, Map<String, List<URI>> others) {

    public static final MemberSettings DEFAULTS = new MemberSettings(MembersShown.SOURCE, List.of(), Map.of());

    private static final String OTHERS = "gateways";

    private static final Setting<MembersShown> SHOWN = Setting.choice(
                    "members",
                    MembersShown.class,
                    "Members returned by MemberList, to which some clients connect. source: the members of the source."
                            + " gateways: this gateway (advertise) and those listed in gateways.")
            .defaultsTo(DEFAULTS.shown);
    private static final Setting<List<URI>> ADVERTISE = Setting.uris(
                    "advertise", "Client URLs of this gateway; required if members is gateways.")
            .optionally()
            .example("http://gateway-1.example:2379");
    private static final Setting<List<URI>> URLS = Setting.uris(
                    "urls", "Client URLs of the other gateway of the source with this name.")
            .optionally()
            .example("http://gateway-2.example:2379");

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(SHOWN, ADVERTISE, URLS.under(OTHERS + ".*"));

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
        return new MemberSettings(
                configuration.get(SHOWN), configuration.find(ADVERTISE).orElse(List.of()), others);
    }
}
