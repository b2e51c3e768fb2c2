// Loads each plan named on the command line as JMeter does and writes what JMeter would save into
// the folder named first. Needs -Djmeter.home. A plan that doesn't load ends it with the reason.
import org.apache.jmeter.save.SaveService
import org.apache.jmeter.util.JMeterUtils

def home = System.getProperty('jmeter.home')
JMeterUtils.setJMeterHome(home)
JMeterUtils.loadJMeterProperties("${home}/bin/jmeter.properties")
JMeterUtils.initLocale()
SaveService.loadProperties()

def folder = new File(args[0])
args.drop(1).each { path ->
    def tree = SaveService.loadTree(new File(path))
    new File(folder, new File(path).name).withOutputStream { SaveService.saveTree(tree, it) }
}
