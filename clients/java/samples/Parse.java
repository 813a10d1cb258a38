import dev.snowlane.client.IdRange;
import dev.snowlane.client.Layout;
import dev.snowlane.client.ParsedId;
import dev.snowlane.client.TextCodec;
import dev.snowlane.client.TextForm;
import dev.snowlane.client.TextFormat;
import java.time.Instant;

class Parse {
  public static void main(String[] arguments) {
    Layout layout = Layout.preset("twitter");
    ParsedId parsed = layout.parse(1541815603606036480L);
    System.out.println("ticks " + parsed.ticks());
    System.out.println("created " + parsed.createTime());
    System.out.println("datacenter " + parsed.datacenterId().getAsLong());
    System.out.println("worker " + parsed.workerId().getAsLong());
    System.out.println("sequence " + parsed.sequence().getAsLong());

    TextCodec codec = new TextCodec(layout, "default");
    for (TextForm form : TextForm.values()) {
      TextFormat format = form == TextForm.TYPED ? TextFormat.typed("order") : TextFormat.of(form);
      System.out.println(form + " " + codec.write(parsed.id(), format));
    }

    Instant second = Instant.parse("2022-06-28T16:07:40Z");
    IdRange range = layout.idRange(second, second.plusSeconds(1));
    System.out.println("range " + range.firstId() + " " + range.lastId());
  }
}
